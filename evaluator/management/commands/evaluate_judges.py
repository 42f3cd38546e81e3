from pathlib import Path

from annotation.access import campaign_named
from core.commands import ServiceCommand
from core.errors import Refused
from evaluator import judges_export
from evaluator.management.device import add_device, use_device
from evaluator.management.progress import ProgressBar
from evaluator.metaevaluation.alternative_annotator import EPSILON


class Command(ServiceCommand):
    help = (
        "Set every judge beside the people of a campaign's newest snapshot: how far it agrees with them, and whether it may"
        " stand in for one of them (omega from 0.5, marked *). Intervals are for other contexts and other people."
    )

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("slug")
        parser.add_argument("--judge", action="append", metavar="NAME", help="only this one; may be given several times")
        parser.add_argument("--criterion", help="default: an accepted one, Overall before others")
        parser.add_argument(
            "--annotators", choices=sorted(EPSILON), default="crowd", help="what they are: the test's epsilon is 0.2, 0.15, 0.1"
        )
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--csv", metavar="FILE")
        parser.add_argument("--latex", metavar="FILE")
        parser.add_argument(
            "--judge-command", metavar="CMD", help="a program: reads {id, context, output, references}, writes {id, score}"
        )
        parser.add_argument(
            "--pair-judge-command",
            metavar="CMD",
            help="a program: reads {id, context, output_a, output_b, references}, writes {id, a, tie, b}",
        )
        parser.add_argument("--timeout", type=float, default=3600.0, help="seconds that a program may take")
        add_device(parser)

    def run(self, slug, judge, criterion, annotators, seed, csv, latex, device, **options):
        from evaluator.worker import judge_evaluation

        use_device(device)
        known = judge_evaluation.material(campaign_named(slug), criterion)
        found = judge_evaluation.candidates(known, _programs(known, options))
        if judge:
            missing = [name for name in judge if name not in {one.name for one in found}]
            if missing:
                raise Refused(f"There is no judge {missing[0]!r} here; there are: {', '.join(one.name for one in found)}.")
            found = [one for one in found if one.name in judge]
        with ProgressBar() as bar:
            record = judge_evaluation.evaluate(known, found, annotators, seed, bar)
        for path, text in ((csv, judges_export.as_csv), (latex, judges_export.as_latex)):
            if path:
                _write(path, text(record))
        return record

    def show(self, result):
        self.stdout.write(judges_export.as_text(result))


def _programs(known, options):
    from evaluator.judges.program import ProgramJudge, ProgramPairJudge

    kinds = (("judge_command", "program", ProgramJudge), ("pair_judge_command", "pair program", ProgramPairJudge))
    return [
        (name, make(options[option], known.references, options["timeout"])) for option, name, make in kinds if options[option]
    ]


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise Refused(f"{path} cannot be written ({error.strerror}).") from error
