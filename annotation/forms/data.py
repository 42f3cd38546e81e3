"""Files to import."""

from pathlib import Path

from django import forms

from annotation.data.contradictions import WAYS
from annotation.data.fields import JUDGE_FILES, constants_of, fields_of
from annotation.data.files import is_archive
from annotation.data.shapes.shape import JUDGE_SCORES
from annotation.models import Upload
from annotation.questions import registry
from core.encodings import ENCODINGS
from core.errors import quoted

SPREAD_COLUMNS = ("system_columns", "aspects_columns", "raters_columns", "judges_columns")
# By what a file holds: columns that may each hold the scores of one criterion, annotator or judge.
SPREAD_OF = {registry.SCALE.files: (("aspects", "criterion"), ("raters", "annotator")), JUDGE_SCORES: (("judges", "judge"),)}
KEPT_AS_SAID = ("keep_columns", "replace", "contradictions", "spellings_apart", "encoding")
MOST_FILES = 200  # sent at once; more go as a zipped folder


class SeveralFiles(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """A list of files."""

    widget = SeveralFiles

    def clean(self, data, initial=None) -> list:
        files = [super(FilesField, self).clean(file, initial) for file in (data or [None])]
        if len(files) > MOST_FILES:
            raise forms.ValidationError(f"At most {MOST_FILES} files are sent at once; zip the folder.")
        return files


def contents() -> list[tuple[str, str]]:
    """What a file may hold, in words."""
    answers = [(kind.files, kind.about) for kind in registry.kinds()]
    judges = [(what, about) for what, (about, _) in JUDGE_FILES.items()]
    return [(Upload.OUTPUTS, "Outputs: what the systems wrote"), *answers, *judges]


class UploadForm(forms.Form):
    kind = forms.ChoiceField(choices=contents, label="Content")
    file = FilesField(
        label="File", help_text="JSON, JSON lines, CSV or Excel; one file, several files, or a zip file.", allow_empty_file=True
    )


class ColumnsForm(forms.Form):
    """Which of the file's columns holds each field, and what the rows can't say."""

    def __init__(self, *args, upload: Upload, columns: list[str], **kwargs):
        super().__init__(*args, **kwargs)
        self.upload, self.kind, self.there = upload, upload.kind, set(columns)
        self.choices = [(column, column) for column in columns]
        self._ask_for_columns()
        if self.kind == Upload.OUTPUTS:
            self._ask_for_systems()
        else:
            self._ask_for_constants()
            for name, whose in SPREAD_OF.get(self.kind, ()):
                label, about = (
                    f"Columns that each hold one {whose}'s scores",
                    f"Each column name is used as the {whose}'s name.",
                )
                self.fields[f"{name}_columns"] = self._several_columns(label, about, name)
            self._ask_who_answered()
        self._ask_how_to_read()

    def _ask_for_columns(self) -> None:
        for field in fields_of(self.kind):
            self.fields[field.name] = forms.ChoiceField(
                choices=[("", "–"), *self.choices],
                required=False,
                label=field.name + ("" if field.required else " (optional)"),
                help_text=field.about,
                initial=self.upload.columns.get(field.name, ""),
            )

    def _ask_for_systems(self) -> None:
        if not self.upload.columns.get("system") and not is_archive(self.upload.name):
            self.fields["one_system"] = forms.CharField(
                required=False,
                max_length=200,
                label="System, if no column names it",
                initial=self.upload.options.get("system") or Path(self.upload.name).stem,
                help_text="Use this if every row is an output of the same system.",
            )
            self.fields["system_columns"] = self._several_columns(
                "Columns that each hold one system's outputs", "Each column name is used as the system's name.", "systems"
            )
        self.fields["keep_columns"] = self._yes_or_no("Keep the other columns as metadata", "keep_columns")
        self.fields["human_systems"] = forms.CharField(
            required=False,
            label="Human-written systems",
            initial="\n".join(self.upload.human_systems),
            widget=forms.Textarea(attrs={"rows": 2}),
            help_text="Systems whose texts were written by people, one name on each line.",
        )

    def _ask_for_constants(self) -> None:
        """What is the same for every row, and no column holds."""
        given = self.upload.options.get("constants", {})
        for name in constants_of(self.kind):
            if self.upload.columns.get(name):
                continue
            if name == "best":
                self.fields["all_best"] = forms.ChoiceField(
                    required=False,
                    label="Which end of the scale is best, where no column says it",
                    choices=[("", "–"), ("high", "the highest"), ("low", "the lowest")],
                    initial=given.get(name, ""),
                )
            else:
                self.fields[f"all_{name}"] = forms.CharField(
                    required=False,
                    max_length=200,
                    label=f"{name}, where no column holds it",
                    initial=given.get(name, ""),
                    help_text="The same for every row.",
                )

    def _ask_who_answered(self) -> None:
        if self.kind in JUDGE_FILES:
            self.fields["replace"] = self._yes_or_no("Replace all that these judges said before", "replace")
        else:
            self.fields["all_simulated"] = forms.BooleanField(
                required=False, label="A program made these answers", initial=self.upload.simulated
            )
            self.fields["contradictions"] = forms.ChoiceField(
                required=False,
                label="If answers of one person contradict each other",
                choices=list(WAYS.items()),
                initial=self.upload.options.get("contradictions", ""),
            )

    def _ask_how_to_read(self) -> None:
        self.fields["spellings_apart"] = self._yes_or_no(
            "Names that differ only in case, spaces or dashes are different names", "spellings_apart"
        )
        self.fields["encoding"] = forms.ChoiceField(
            required=False,
            label="Encoding",
            choices=[("", "as the file says, else UTF-8"), *((name, name) for name in ENCODINGS)],
            initial=self.upload.options.get("encoding", ""),
        )

    def _yes_or_no(self, label: str, option: str) -> forms.BooleanField:
        return forms.BooleanField(required=False, label=label, initial=self.upload.options.get(option, False))

    def _several_columns(self, label: str, about: str, option: str) -> forms.MultipleChoiceField:
        return forms.MultipleChoiceField(
            required=False,
            label=label,
            choices=self.choices,
            initial=self.upload.options.get(option, []),
            widget=forms.CheckboxSelectMultiple,
            help_text=about,
        )

    def required_columns(self) -> list:
        return [self[field.name] for field in fields_of(self.kind) if field.required]

    def more_columns(self) -> list:
        return [self[field.name] for field in fields_of(self.kind) if not field.required]

    def columns(self) -> dict[str, str]:
        """Chosen columns by field; "" for a field whose own column is there and not wanted."""
        chosen = {field.name: self.cleaned_data[field.name] for field in fields_of(self.kind)}
        return {name: column for name, column in chosen.items() if column or name in self.there}

    def beside_the_columns(self) -> list:
        """What the rows can't say."""
        constants = [f"all_{name}" for name in constants_of(self.kind)]
        names = ("system_columns", "one_system", "keep_columns", "human_systems", *constants)
        names += (
            "aspects_columns",
            "raters_columns",
            "judges_columns",
            "replace",
            "all_simulated",
            "contradictions",
            "spellings_apart",
            "encoding",
        )
        return [self[name] for name in names if name in self.fields]

    def clean(self):
        data = super().clean()
        spread = {column for name in SPREAD_COLUMNS for column in data.get(name, [])}
        if both := spread & {data.get(field.name) for field in fields_of(self.kind)}:
            raise forms.ValidationError(f"The column {quoted(min(both))} is chosen as a field and as one of several columns.")
        chosen = [data[f.name] for f in fields_of(self.kind) if data.get(f.name)]
        if twice := {column for column in chosen if chosen.count(column) > 1}:
            raise forms.ValidationError(f"The column {quoted(min(twice))} is chosen twice.")
        return data

    def options(self) -> dict:
        systems = self.cleaned_data.get("human_systems", "")
        said = self.cleaned_data
        columns, one = said.get("system_columns"), said.get("one_system", "").strip()
        options: dict = {"systems": columns} if columns else {"system": one} if one and not said.get("system") else {}
        constants = {name: said.get(f"all_{name}", "").strip() for name in constants_of(self.kind) if not said.get(name)}
        if given := {name: value for name, value in constants.items() if value}:
            options["constants"] = given
        options |= {name: said[name] for name in KEPT_AS_SAID if said.get(name)}
        options |= {name: said[f"{name}_columns"] for name in ("aspects", "raters", "judges") if said.get(f"{name}_columns")}
        return {
            "human_systems": [line.strip() for line in systems.splitlines() if line.strip()],
            "simulated": said.get("all_simulated", False),
            "options": options,
        }
