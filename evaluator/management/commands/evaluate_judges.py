from annotation.access import campaign_named
from core.commands import ServiceCommand
from core.errors import Refused
from evaluator.judge_tables import exports, tables
from evaluator.judge_tables.cautions import as_of_now
from evaluator.judges.pairwise_model import LanguageModelJudge
from evaluator.judges.pointwise_model import LanguageModelScorer
from evaluator.management import judge_options
from evaluator.management.device import add_device, use_device
from evaluator.management.progress import ProgressBar
from evaluator.management.table_files import write_tables
from evaluator.metaevaluation.alternative_annotator import EPSILON
from evaluator.roster import SET_UP
from evaluator.versions.selectors import by_default


class Command(ServiceCommand):
    help = (
        "Compare every judge with the annotators of a campaign's newest snapshot. The table shows how well each judge agrees"
        " with them. It marks with * judges that may replace an annotator (alternative annotator test, winning rate from 0.5)."
        " Intervals hold for other contexts and other people like these."
    )

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("slug")
        parser.add_argument("--judge", action="append", metavar="NAME", help="evaluate only this judge; repeat for more")
        parser.add_argument(
            "--set-up",
            action="append",
            default=[],
            metavar="NAME",
            help="also evaluate this judge, which is set up; repeat for more",
        )
        parser.add_argument("--keep", action="store_true", help="also evaluate the judges of the table on the page")
        parser.add_argument("--snapshot", metavar="NAME", help="default: the newest snapshot")
        parser.add_argument("--criterion", help="default: the campaign's first criterion with scores")
        parser.add_argument(
            "--annotators",
            choices=sorted(EPSILON),
            default="crowd",
            help="kind of annotators; sets the test's epsilon: 0.1 (crowd), 0.2 or 0.15",
        )
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument(
            "--ways",
            action="store_true",
            help="also turn the comparator's comparisons into scores, in the three ways of Zhou & Xu (2020)",
        )
        parser.add_argument(
            "--own",
            action="append",
            default=[],
            metavar="JUDGE=SYSTEM",
            help="a system of the judge's own family; shows whether the judge prefers these systems more than people do",
        )
        parser.add_argument("--csv", metavar="FILE")
        parser.add_argument("--latex", metavar="FILE")
        parser.add_argument("--attacks", action="store_true", help="also test whether spoilt outputs fool the judges")
        parser.add_argument("--page", action="store_true", help="show the table on the campaign's page of judges")
        parser.add_argument("--pairs", type=int, help="maximum number of pairs for a pairwise judge, sampled with the seed")
        judge_options.add_arguments(parser)
        judge_options.add_model_arguments(parser)
        add_device(parser)

    def run(self, slug, judge, snapshot, criterion, annotators, seed, ways, own, csv, latex, device, keep, set_up, **options):
        from evaluator.metaevaluation.comparison_scores import WAYS
        from evaluator.worker.judge_tables import candidates, evaluation, material

        use_device(device)
        models = judge_options.models_of(options)
        campaign = campaign_named(slug)
        known = material.material(campaign, criterion, snapshot)
        if chosen := by_default(known.snapshot, known.basis.criterion) if criterion is None else "":
            self.progress(chosen)
        brought = judge_options.players(options, campaign, known.basis.criterion, seed, known)
        judge, further = _with_set_up(campaign, known, judge, set_up, keep, [name for name, _ in brought], seed)
        others = [*brought, *further]
        pairs = material.pairs_to_read(known, options["pairs"], seed)
        for name, one in others:
            if isinstance(one, LanguageModelJudge | LanguageModelScorer) and (not judge or name in judge):
                forecast = one.forecast_on(known.texts, pairs)
                self.progress(f"{name}: {forecast}")
                if options["forecast"]:
                    return {"judge": name, "calls": forecast.calls, "cost": forecast.cost, "forecast": str(forecast)}
        found = candidates.candidates(
            known, others, options["pairs"], seed, WAYS if ways else (), models=models, named=judge or ()
        )
        if judge:
            missing = [name for name in judge if not any(_is_named(one, [name]) for one in found)]
            if missing:
                raise Refused(f"There is no judge {missing[0]!r} here; there are: {', '.join(one.name for one in found)}.")
            found = [one for one in found if _is_named(one, judge)]
        families = _families(own, [one.name for one in found])
        with ProgressBar() as bar:
            record = evaluation.evaluate(known, found, annotators, seed, bar, families)
        repeated = [(option, value) for option, values in (("--judge", judge or ()), ("--own", own)) for value in values]
        of_judges = [word for pair in repeated for word in pair]
        of_judges += [word for name, _ in further if not judge for word in ("--set-up", name)]
        record["options"] = [*of_judges, *(["--ways"] if ways else []), *judge_options.words(options)]
        if options["attacks"]:
            record["attacks"] = [_attacked(known, one, dict(others), seed) for one in found]
        if options["page"]:
            tables.keep(campaign, known.snapshot, record)
        record = as_of_now(record)
        write_tables(record, {csv: exports.as_csv, latex: exports.as_latex})
        return record

    def show(self, result):
        if "tables" in result:
            self.stdout.write(exports.as_text(result))
        else:
            super().show(result)


def _with_set_up(campaign, known, names, set_up, keep, brought, seed):
    """(names that are evaluated alone or None, further judges by name): those that are set up are asked by their names. names:
    that were named, alone; set_up: besides others; brought: by options. keep: with the judges of the page's table that are
    there still. Raises Refused."""
    from evaluator.worker.players import at_work

    rows = {row.name: row for row in campaign.judges.filter(kind__in=SET_UP)}
    if unknown := [name for name in set_up if name not in rows]:
        raise Refused(f"No judge {unknown[0]!r} is set up here; there are: {', '.join(rows) or 'none'}.")
    table, _ = tables.shown(campaign) if keep else (None, [])
    shown = [row["name"] for row in table.record["tables"]["all"]["rows"] if row["kind"] == "judge"] if table else []
    alone = list(dict.fromkeys([*names, *set_up, *(brought if keep else ()), *shown])) if names else None
    asked = [name for name in dict.fromkeys([*(names or ()), *set_up, *shown]) if name in rows and name not in brought]
    return alone, [(name, at_work(rows[name], known.basis.criterion, seed, known)) for name in asked]


def _families(own: list[str], judges: list[str]) -> dict[str, list[str]]:
    """{judge: systems} of the words JUDGE=SYSTEM. Raises Refused."""
    families: dict[str, list[str]] = {}
    for words in own:
        judge, equals, system = words.rpartition("=")
        if not equals:
            raise Refused(f"--own {words}: write JUDGE=SYSTEM.")
        if judge not in judges:
            raise Refused(f"--own {words}: there is no judge {judge!r} here; there are: {', '.join(judges)}.")
        families.setdefault(judge, []).append(system)
    return families


def _is_named(one, names: list[str]) -> bool:
    """By its name, or a metric's with any model."""
    return one.name in names or bool(one.metric) and one.metric[0] in names


def _attacked(known, one, judges: dict, seed: int) -> dict:
    """one: a candidate. judges: at work, by name."""
    from evaluator.worker.judge_tables.attacks import attacked
    from evaluator.worker.judge_tables.material import metric_of

    if one.name not in judges and not one.metric:
        own = one.name.startswith("comparator")
        why = "its card says what fools it" if own else "only its scores of these outputs are known"
        return {"judge": one.name, "attacks": [], "why": why}
    try:
        judge = judges.get(one.name) or metric_of(known, *one.metric)
    except Refused as refused:
        return {"judge": one.name, "attacks": [], "why": str(refused).rstrip(".")}
    return attacked(known, one.name, judge, seed)
