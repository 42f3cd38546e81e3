"""Files to import."""

from django import forms


class ImportForm(forms.Form):
    KINDS = [
        ("outputs", "Outputs: what the systems wrote"),
        ("scores", "Scores: people's Likert answers on outputs already here"),
        ("judgments", "Judgments: people's A / tie / B on pairs"),
    ]
    file = forms.FileField(label="File", help_text="JSON lines or CSV, UTF-8.", allow_empty_file=True)
    kind = forms.ChoiceField(choices=KINDS, label="What it holds")
    human_systems = forms.CharField(
        required=False, label="Human-written systems", widget=forms.Textarea(attrs={"rows": 2}),
        help_text="For outputs: names of systems whose texts people wrote, one a line.",
    )  # fmt: skip
    dry_run = forms.BooleanField(required=False, label="Only check; store nothing")

    def clean_human_systems(self):
        return [line.strip() for line in self.cleaned_data["human_systems"].splitlines() if line.strip()]
