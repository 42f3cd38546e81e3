from dataclasses import replace

from annotation.api.protocol_file import protocol_from
from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.campaigns.templates import TEMPLATES, settings_of, template_named
from annotation.questions import conditions
from core.commands import ServiceCommand
from core.errors import Refused


class Command(ServiceCommand):
    help = "Create a campaign."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("slug")
        parser.add_argument("--title", default="")
        parser.add_argument("--template", choices=sorted(TEMPLATES), help="guidelines and criteria of a kind of campaign")
        parser.add_argument("--criterion", action="append", default=[], metavar="NAME:LOW:HIGH")
        parser.add_argument(
            "--asked-if",
            action="append",
            nargs="+",
            default=[],
            metavar=("NAME", "CONDITION"),
            help='ask criterion NAME only if: "Overall below 3" (or at_least, equal), "last turn", "turns 1, 3"',
        )
        parser.add_argument("--protocol", metavar="FILE", help="JSON with the fields that the API takes for a new campaign")
        parser.add_argument("--pairwise", action="store_true", help="judge pairs (with --criterion: beside the scores)")
        parser.add_argument("--overlap", type=int, default=3, help="how many people judge each item")

    def run(self, slug, title, template, criterion, pairwise, overlap, protocol, asked_if, **options):
        if protocol:
            if template or criterion or pairwise or asked_if:
                raise Refused("--protocol says what is asked; leave --template, --criterion, --asked-if and --pairwise out.")
            asked = protocol_from(protocol)
            asked = {"title": title} | asked if not title else asked | {"title": title}
            campaign = create_campaign(slug=slug, **({"overlap": overlap} | asked))
            return {"campaign": campaign.slug, "criteria": [c.name for c in campaign.criteria.all()]}
        if template and criterion:
            raise Refused("--template brings its own criteria; leave --criterion out, and change them in the design later.")
        asked = settings_of(template_named(template)) if template else _asked(criterion, pairwise)
        asked["pairwise"] = asked["pairwise"] or pairwise
        asked["criteria"] = _with_conditions(asked["criteria"], asked_if)
        campaign = create_campaign(slug=slug, title=title, overlap=overlap, **asked)
        return {"campaign": campaign.slug, "criteria": [c.name for c in campaign.criteria.all()]}


def _asked(criterion: list[str], pairwise: bool) -> dict:
    criteria = [_criterion(text) for text in criterion]
    return {"criteria": criteria, "pairwise": pairwise, "likert": bool(criteria) or not pairwise}


def _criterion(text: str) -> CriterionSpec:
    name, *scale = text.rsplit(":", 2)
    try:
        low, high = (int(end) for end in scale)
    except ValueError:
        raise Refused(f"--criterion {text!r}: expected NAME:LOW:HIGH, for instance Overall:1:5.") from None
    return CriterionSpec(name, low, high)


def _with_conditions(criteria: list[CriterionSpec], asked_if: list[list[str]]) -> list[CriterionSpec]:
    asked_only = {}
    for name, *words in asked_if:
        try:
            asked_only[name] = conditions.parsed(" ".join(words))
        except Refused as refused:
            raise Refused(f"--asked-if {name}: {refused}") from None
    if strange := sorted(asked_only.keys() - {one.name for one in criteria}):
        raise Refused(f"--asked-if: there is no criterion {strange[0]!r}.")
    return [replace(one, asked_if=asked_only.get(one.name, one.asked_if)) for one in criteria]
