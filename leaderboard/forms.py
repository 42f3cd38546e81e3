"""What the leaderboard's pages ask."""

from django import forms

from annotation.snapshots import latest_snapshot
from evaluator.comparator.settings import MAX_SEED
from evaluator.roster import judges_by_name
from evaluator.versions.selectors import architecture, criteria
from leaderboard.models import Tournament
from leaderboard.tournaments import start

DEFAULT, PAIRS = "default", "pairs"


class PlayForm(forms.Form):
    """Names are sent behind a colon, so that none can be taken for one of the other choices; a + asks people too. Judges that
    are no comparator stand behind a = or, with people, a &."""

    RULES = [
        ("", "Glicko-2, order-free (default)"),
        ("bradley-terry", "Bradley-Terry with ties"),
        ("paper", "game by game, as in Zhou and Xu (2020)"),
    ]
    judge = forms.ChoiceField(label="Judge")
    criterion = forms.ChoiceField(label="People's criterion")
    rating = forms.ChoiceField(label="Rating", choices=RULES, required=False)
    level = forms.ChoiceField(label="Who plays", choices=[("system", "systems"), ("sample", "single outputs")], required=False)
    seed = forms.IntegerField(min_value=0, max_value=MAX_SEED, initial=0)
    games = forms.IntegerField(
        min_value=1,
        max_value=start.MAX_GAMES,
        required=False,
        label="Games",
        widget=forms.NumberInput(attrs={"placeholder": "enough"}),
    )

    def __init__(self, *args, campaign, **kwargs):
        super().__init__(*args, label_suffix="", **kwargs)
        self.versions = {version.name: version for version in campaign.comparators.filter(retired_at=None)}
        if any(architecture(version) == "joint" for version in self.versions.values()):
            cost = f"{start.readings(campaign):,} readings of two outputs together"
            self.fields["level"].help_text = f"Single outputs cost a joint comparator at most {cost}."
        others = judges_by_name(campaign)
        self.fields["judge"].choices = [
            *((f":{name}", f"comparator {name}") for name in self.versions),
            ("people", "people"),
            *((f"+{name}", f"people and {name} together") for name in self.versions),
            ("other judges", [(f"={name}", name) for name in others]),
            ("people and another judge", [(f"&{name}", f"people and {name} together") for name in others]),
        ]
        self.fields["criterion"].choices = [(DEFAULT, "an accepted one (default)")] + [
            (f":{name}", name) if name else (PAIRS, "judgments of pairs") for name in criteria(latest_snapshot(campaign))
        ]

    def request(self) -> dict:
        """The arguments of start.start_tournament. Raises Refused where the rules mean nothing."""
        judge, criterion = self.cleaned_data["judge"], self.cleaned_data["criterion"]
        judges = {":": Tournament.Judge.COMPARATOR, "+": Tournament.Judge.CALIBRATED}
        judges |= {"=": Tournament.Judge.OTHER, "&": Tournament.Judge.CALIBRATED}
        return {
            "judge": judges.get(judge[:1], Tournament.Judge.PEOPLE),
            "version": self.versions.get(judge[1:]) if judge[0] in ":+" else None,
            "named": judge[1:] if judge[0] in "=&" else "",
            "criterion": None if criterion == DEFAULT else "" if criterion == PAIRS else criterion[1:],
            "seed": self.cleaned_data["seed"],
            "games": self.cleaned_data["games"],
            "rules": start.rules_named(self.cleaned_data["rating"]),
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


class OutputsForm(forms.Form):
    file = forms.FileField(
        label="Outputs file",
        help_text=(
            "JSON lines or CSV with one row for each output. Fields: <code>context_id</code>, <code>context</code> and "
            "<code>output</code>; <code>checkpoint</code> and <code>iteration</code> where there are checkpoints."
        ),
    )


class RegisterForm(SystemForm, OutputsForm):
    field_order = ["name", "description", "link", "is_human", "file"]
    is_human = forms.BooleanField(label="Written by people", required=False)
