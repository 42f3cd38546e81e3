"""What the leaderboard's pages ask."""

from typing import Any

from django import forms

from annotation.snapshots import latest_snapshot
from evaluator.comparator.settings import MAX_SEED
from evaluator.forms import CriterionField
from evaluator.roster import Kind, candidates, judge_named
from evaluator.versions.selectors import architecture, criteria
from leaderboard.models import Tournament
from leaderboard.tournaments import start

Basis = Tournament.Basis
GROUPS = {Kind.COMPARATOR: "comparators", Kind.METRIC: "metrics", Kind.IMPORTED: "imported judgments"}


class PlayForm(forms.Form):
    """Who judges is a basis and, unless people alone judge, a judge by its name."""

    RULES = [
        ("", "Glicko-2, order-free (default)"),
        ("bradley-terry", "Bradley-Terry with ties"),
        ("paper", "game by game, as in Zhou and Xu (2020)"),
    ]
    basis = forms.ChoiceField(label="Who decides", choices=Basis.choices)
    judge = forms.ChoiceField(label="Judge", required=False, help_text="Not used where people alone decide.")
    criterion = CriterionField(label="People's criterion")
    rating = forms.ChoiceField(label="Rating", choices=RULES, required=False)
    level = forms.ChoiceField(label="Who plays", choices=[("system", "systems"), ("sample", "single outputs")], required=False)
    only_kept = forms.BooleanField(
        required=False,
        label="Only what the filter kept",
        help_text="Of people's answers. The board then speaks of these annotators only. Else all answers count.",
    )
    seed = forms.IntegerField(min_value=0, max_value=MAX_SEED, initial=0)
    games = forms.IntegerField(
        min_value=1,
        max_value=start.MAX_GAMES,
        required=False,
        label="Games",
        widget=forms.NumberInput(attrs={"placeholder": "enough"}),
    )

    def __init__(self, *args, campaign, **kwargs):
        super().__init__(*args, **({"label_suffix": ""} | kwargs))
        fields: dict[str, Any] = self.fields
        self.campaign = campaign
        found = candidates(campaign)
        if any(one.version and architecture(one.version) == "joint" for one in found):
            cost = f"{start.readings(campaign):,} readings of two outputs together"
            self.fields["level"].help_text = f"Single outputs cost a joint comparator at most {cost}."
        groups: dict[str, list[tuple[str, str]]] = {}
        for one in found:
            groups.setdefault(GROUPS.get(Kind(one.kind), f"{one.kind}s"), []).append((one.name, one.name))
        fields["judge"].choices = [("", "none: people alone"), *groups.items()]
        self.fields["judge"].initial = found[0].name if found and found[0].version else ""
        self.fields["basis"].initial = Basis.JUDGE if self.fields["judge"].initial else Basis.PEOPLE
        names = criteria(latest_snapshot(campaign))
        fields["criterion"].offer(names, "the first one (default)", "judgments of pairs")

    def clean(self):
        basis, judge = self.cleaned_data.get("basis"), self.cleaned_data.get("judge")
        if basis and basis != Basis.PEOPLE and not judge and "judge" not in self.errors:
            self.add_error("judge", "Choose a judge, or let people alone decide.")
        if basis == Basis.PEOPLE:
            self.cleaned_data["judge"] = ""  # as the page says
        return self.cleaned_data

    def said(self) -> str:
        """Why it cannot be sent, in sentences."""
        return " ".join(f"{self.fields[name].label}: {' '.join(errors)}" for name, errors in self.errors.items())

    def request(self) -> dict:
        """The arguments of `start_tournament`. Raises Refused where the rules mean nothing, or the judge went meanwhile."""
        judge = self.cleaned_data["judge"]
        return {
            "basis": self.cleaned_data["basis"],
            "judge": judge_named(self.campaign, judge) if judge else None,
            "criterion": self.cleaned_data["criterion"],
            "seed": self.cleaned_data["seed"],
            "games": self.cleaned_data["games"],
            "rules": start.rules_named(self.cleaned_data["rating"]),
            "only_kept": self.cleaned_data["only_kept"],
            "level": self.cleaned_data["level"] or Tournament.Level.SYSTEM,
        }


class BoardForm(forms.Form):
    is_public = forms.BooleanField(
        label="Anyone can see the boards: ratings, charts and files. Only researchers see texts and single judgments.",
        required=False,
    )
    plays_new = forms.BooleanField(label="Play a tournament as soon as a new comparator is trained", required=False)


class SystemForm(forms.Form):
    name = forms.CharField(max_length=200)
    description = forms.CharField(required=False, max_length=2000, widget=forms.Textarea(attrs={"rows": 2}))
    link = forms.URLField(required=False, assume_scheme="https", label="Link", help_text="A paper, a model card, a repository.")
    cost = forms.FloatField(
        required=False,
        min_value=0,
        label="What it costs",
        help_text="One number, as you know it. Boards show it, also public ones.",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    cost_unit = forms.CharField(
        required=False,
        max_length=60,
        label="In which unit",
        help_text="The same for all systems, for example US dollars per 1,000 outputs.",
    )


class OutputsForm(forms.Form):
    file = forms.FileField(
        label="Outputs file",
        help_text=(
            "JSON lines or CSV with one row for each output. Fields: <code>context_id</code>, <code>context</code> and "
            "<code>output</code>; <code>checkpoint</code> and <code>iteration</code> where there are checkpoints."
        ),
    )


class RegisterForm(SystemForm, OutputsForm):
    field_order = ["name", "description", "link", "is_human", "cost", "cost_unit", "file"]
    is_human = forms.BooleanField(label="Written by people", required=False)


class ArchiveForm(forms.Form):
    """A whole campaign that comes back."""

    file = forms.FileField(label="Archive", help_text="The zip that the page Export, the API or export_campaign wrote.")
    slug = forms.SlugField(
        label="Short name",
        max_length=80,
        required=False,
        help_text="Empty keeps the archive's. Give another if a campaign here has that name.",
    )
