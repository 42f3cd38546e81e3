"""Files to import."""

from django import forms

from annotation.data.fields import FIELDS
from annotation.models import Upload


class UploadForm(forms.Form):
    kind = forms.ChoiceField(choices=Upload.Kind.choices, label="What it holds")
    file = forms.FileField(label="File", help_text="JSON lines or CSV, UTF-8.", allow_empty_file=True)


class ColumnsForm(forms.Form):
    """Which of the file's columns holds each field, and what the rows can't say."""

    def __init__(self, *args, upload: Upload, columns: list[str], **kwargs):
        super().__init__(*args, **kwargs)
        self.there = set(columns)
        self.kind, choices = upload.kind, [("", "–"), *((column, column) for column in columns)]
        for field in FIELDS[upload.kind]:
            self.fields[field.name] = forms.ChoiceField(
                choices=choices,
                required=False,
                label=field.name + ("" if field.required else " (if there)"),
                help_text=field.about,
                initial=upload.columns.get(field.name, ""),
            )
        if upload.kind == Upload.Kind.OUTPUTS:
            self.fields["human_systems"] = forms.CharField(
                required=False,
                label="Human-written systems",
                initial="\n".join(upload.human_systems),
                widget=forms.Textarea(attrs={"rows": 2}),
                help_text="Names of systems whose texts people wrote, one a line.",
            )
        else:
            self.fields["simulated"] = forms.BooleanField(
                required=False, label="A program made these answers", initial=upload.simulated
            )

    def required_columns(self) -> list:
        return [self[field.name] for field in FIELDS[self.kind] if field.required]

    def more_columns(self) -> list:
        return [self[field.name] for field in FIELDS[self.kind] if not field.required]

    def columns(self) -> dict[str, str]:
        """Chosen columns by field; "" for a field whose own column is there and not wanted."""
        chosen = {field.name: self.cleaned_data[field.name] for field in FIELDS[self.kind]}
        return {name: column for name, column in chosen.items() if column or name in self.there}

    def clean(self):
        data = super().clean()
        chosen = [data[f.name] for f in FIELDS[self.kind] if data.get(f.name)]
        if twice := {column for column in chosen if chosen.count(column) > 1}:
            raise forms.ValidationError(f"The column {min(twice)!r} is chosen twice.")
        return data

    def options(self) -> dict:
        systems = self.cleaned_data.get("human_systems", "")
        return {
            "human_systems": [line.strip() for line in systems.splitlines() if line.strip()],
            "simulated": self.cleaned_data.get("simulated", False),
        }
