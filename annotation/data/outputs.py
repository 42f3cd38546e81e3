"""Outputs from a file, with references, checkpoints and known answers."""

from annotation.campaigns.items import draw_items
from annotation.data.corpus import Corpus, Imported
from annotation.data.known import KnownRows
from annotation.models import Campaign, Reference
from core.errors import RowError
from core.rowfiles import BadField, Row


class OutputsImport(Corpus):
    kind = "outputs"

    def __init__(self, campaign: Campaign, human_systems=(), only: str | None = None, version: str = ""):
        super().__init__(campaign, human_systems, version)
        self.only = only

    def begin(self) -> None:
        super().begin()
        self.known_rows = KnownRows({criterion.name: criterion for criterion in self.campaign.criteria.all()})

    def take(self, row: Row) -> None:
        context = self.context(row)
        name = row.name("system", default=self.only)
        system = self.system(name)
        if self.only not in (None, system.name):
            raise BadField("system", f"is {name!r}, but this file was sent for {self.only!r}")
        checkpoint = self.checkpoint(row, system)
        sample = row.whole("sample", default=0)
        text = row.text("output", empty=True)
        output = self.output(context, system, checkpoint, sample, text, "output", row.mapping("published"))
        self.known_rows.take(row, output)
        known = self.references.setdefault(context.key, [])
        for text in row.texts("references"):
            if text not in known:
                self.new_references.append(Reference(context=context, number=len(known), text=text))
                known.append(text)

    def check(self) -> list[RowError]:
        unknown = self.human - set(self.systems)
        names = ", ".join(sorted(repr(n) for n in unknown))
        message = f"no row has the system {names} that was called human-written"
        return [RowError("--human-system", None, "", message)] if unknown else []

    def news(self):
        return [*self.corpus_news(), ("known answers", self.known_rows.rows)]

    def store(self, result: Imported) -> None:
        self.store_corpus()
        human = {self.systems[name].name for name in self.human}
        marked = self.campaign.systems.filter(name__in=human, is_human=False).update(is_human=True)
        if marked:
            result.add("systems marked human-written", marked)
        self.known_rows.store(self.campaign, result)
        if items := draw_items(self.campaign):
            result.add("items", items)
