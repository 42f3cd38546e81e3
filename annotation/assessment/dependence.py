"""Contexts that are not independent, and scores that are relative: what is noticed, what is done by default, and its undoing.

Contexts whose text and outputs are the same are one group by default. All else is a question to the researcher."""

from dataclasses import asdict, dataclass

from django.db import transaction

from annotation.assessment.tables import Systems, Table, moves_of, systems_of, table_of, tables_of
from annotation.models import AuditEvent, Campaign, Context, Output, User
from annotation.quality.dependence import constant_sums, copies, field_p, plain
from annotation.quality.errors import UndefinedAgreement
from annotation.quality.p_values import p_is
from annotation.questions import registry
from annotation.questions.kind import Question
from core.errors import Refused, quoted

COPIES, TEXT, FIELD, RELATIVE = "copies", "text", "field", "relative"
APART = "copies count apart"  # the audit event after which copies are no group any more,
TOGETHER = "copies count together"  # and the one after which they are again
GROUPED = "contexts grouped"
PREFIX = "copies of "
LEVEL = 0.05  # over all fields and questions together
MOST_FIELDS = 20


@dataclass(frozen=True)
class Note:
    """kind: one of the above; field: of the metadata; contexts, groups: how many it is about, and how many they make."""

    kind: str
    sentence: str
    field: str = ""
    contexts: int = 0
    groups: int = 0

    def as_dict(self) -> dict:
        return asdict(self)


def notes(campaign: Campaign) -> list[Note]:
    """What there is to say, the gravest first."""
    contexts = list(campaign.contexts.order_by("pk"))
    return [*_of_copies(campaign, contexts), *_of_fields(campaign, contexts), *_relative(campaign)]


def note_figures(campaign: Campaign) -> dict:
    """The same as JSON, which a worker makes where there are many answers."""
    return {"notes": [note.as_dict() for note in notes(campaign)]}


def for_board(campaign: Campaign, criterion: str) -> list[Note]:
    """What a board of this question has to say: copies that a researcher lets count apart, and scores that are relative."""
    found = []
    if count_apart(campaign):
        found = [note for note in _of_copies(campaign, list(campaign.contexts.order_by("pk"))) if note.kind == COPIES]
    about = [q for q in registry.all_questions(campaign) if criterion and q.criterion and q.criterion.name == criterion]
    tables = [(question, table) for question in about if (table := table_of(campaign, question))]
    systems = systems_of(campaign) if tables else None
    return [*found, *(note for q, table in tables if systems and (note := _relative_note(q, table, systems)))]


def _of_copies(campaign: Campaign, contexts: list[Context]) -> list[Note]:
    same = [group for group in copies_of(contexts) if len({c.group or c.pk for c in group}) > 1]
    made = [c for c in contexts if c.group.startswith(PREFIX)]
    found = []
    if made:
        groups = len({c.group for c in made})
        found.append(
            Note(
                COPIES,
                f"{len(made):,} contexts have the same text and outputs as others, so they are {groups:,} groups for boards:"
                " the same answer again tells nothing new. If they are different contexts all the same, let them count apart.",
                contexts=len(made),
                groups=groups,
            )
        )
    elif same:
        n, apart = sum(map(len, same)), count_apart(campaign)
        done = (
            "They count apart, as a researcher chose, so intervals may be too narrow."
            if apart
            else "They become one group each when answers are accepted."
        )
        found.append(
            Note(
                COPIES,
                f"{n:,} contexts have the same text and outputs as others ({len(same):,} groups). {done}",
                contexts=n,
                groups=len(same),
            )
        )
    by_text = _texts([c for c in contexts if not c.group])
    in_copies = {c.pk for group in same for c in group}
    alike = copies([pk for pk in by_text if pk not in in_copies], by_text)
    if alike:
        n = sum(map(len, alike))
        found.append(
            Note(
                TEXT,
                f"{n:,} contexts share their text with others, but not their outputs ({len(alike):,} groups). Is it the same"
                " question about other material, or the same context again? If it is the same, group them by their text.",
                contexts=n,
                groups=len(alike),
            )
        )
    return found


def copies_of(contexts: list[Context]) -> list[list[Context]]:
    """Contexts whose text and outputs are the same but for case, spaces and punctuation."""
    by_text = _texts(contexts)
    alike = [pk for group in copies(list(by_text), by_text) for pk in group]
    outputs: dict[int, list[tuple[int, str]]] = {}
    for start in range(0, len(alike), 500):  # SQLite takes a limited number of parameters
        rows = Output.objects.filter(context__in=alike[start : start + 500], replaced_at=None)
        for context, system, text in rows.values_list("context_id", "system_id", "text"):
            outputs.setdefault(context, []).append((system, plain(text)))
    whole = {pk: (by_text[pk], tuple(sorted(outputs[pk]))) for pk in alike if pk in outputs}
    by_key = {c.pk: c for c in contexts}
    return [[by_key[pk] for pk in group] for group in copies(list(whole), whole)]


def _texts(contexts: list[Context]) -> dict[int, str]:
    """{id: what a context says, plainly}; without those that say nothing"""
    found = {c.pk: plain(" ".join(map(str, c.turns))) for c in contexts}
    return {pk: text for pk, text in found.items() if text}


def count_apart(campaign: Campaign) -> bool:
    """Did a researcher say that copies count apart?"""
    said = AuditEvent.objects.filter(campaign=campaign, action__in=[APART, TOGETHER]).order_by("-pk").first()
    return said is not None and said.action == APART


def _of_fields(campaign: Campaign, contexts: list[Context]) -> list[Note]:
    """Fields of the metadata by which answers are more alike than by chance (Holm over fields and questions)."""
    if any(c.group and not c.group.startswith(PREFIX) for c in contexts):
        return []
    values = _fields(contexts)
    if not values:
        return []
    systems, best = systems_of(campaign), dict[str, float]()
    tested = 0
    for _, table in tables_of(campaign):
        try:
            ids, moves = moves_of(table, systems)
        except UndefinedAgreement:
            continue
        for name, by_context in values.items():
            p = field_p(moves, [by_context.get(pk, pk) for pk in ids], campaign.seed)
            if p is not None:
                tested += 1
                best[name] = min(p, best.get(name, 1.0))
    found = [name for name, p in sorted(best.items(), key=lambda one: one[1]) if p * tested <= LEVEL]
    return [
        Note(
            FIELD,
            f"Answers are more alike on contexts with the same {quoted(name)} than by chance (permutation test, corrected"
            f" {p_is(best[name] * tested)}). If its values are a sample, such as topics or documents, group contexts by it;"
            " if they are all there are, such as languages, leave it.",
            field=name,
            contexts=len(values[name]),
            groups=len(set(map(str, values[name].values()))),
        )
        for name in found
    ]


def _fields(contexts: list[Context]) -> dict[str, dict[int, object]]:
    """{field: {context id: value}} of the metadata's plain values"""
    found: dict[str, dict[int, object]] = {}
    for context in contexts:
        for name, value in context.metadata.items():
            if isinstance(value, (str, int, bool)):
                found.setdefault(name, {})[context.pk] = value
    return dict(list(found.items())[:MOST_FIELDS])


def _relative(campaign: Campaign) -> list[Note]:
    systems = systems_of(campaign)
    return [note for question, table in tables_of(campaign) if (note := _relative_note(question, table, systems))]


def _relative_note(question: Question, table: Table, systems: Systems) -> Note | None:
    if question.on_pairs:
        return None
    row, column = (~table.missing).nonzero()
    share = constant_sums(row, [systems.context[table.units[j]] for j in column], table.values[row, column])
    if share is None:
        return None
    return Note(
        RELATIVE,
        f"The scores of {question.name} that one annotator gave to the outputs of one context have the same sum in"
        f" {100 * share:.0f}% of cases. Are they ranks, or points shared out between outputs? Then one score follows from the"
        " others, and systems seem further apart than they are. Import them as judgments of pairs instead.",
    )


@transaction.atomic
def group_copies(campaign: Campaign, user: User | None = None) -> int:
    """Make copies one group each, unless a researcher let them count apart; how many contexts got a group."""
    if count_apart(campaign):
        return 0
    changed = []
    for group in copies_of(list(campaign.contexts.order_by("pk"))):
        if any(c.group and not c.group.startswith(PREFIX) for c in group):
            continue
        name = next((c.group for c in group if c.group), f"{PREFIX}{group[0].key}"[:200])
        changed += [c for c in group if c.group != name]
        for context in group:
            context.group = name
    return _store(campaign, changed, COPIES, user)


@transaction.atomic
def group_by(campaign: Campaign, how: str, user: User | None = None) -> int:
    """Group contexts by "text", by a field of their metadata, or by "copies" again; "none" lets copies count apart and takes
    back every group that was made so. How many contexts changed. Raises Refused."""
    contexts = list(campaign.contexts.order_by("pk"))
    if how == COPIES:
        if count_apart(campaign):
            AuditEvent.objects.create(campaign=campaign, user=user, action=TOGETHER, detail={})
        return group_copies(campaign, user)
    if how == "none":
        AuditEvent.objects.create(campaign=campaign, user=user, action=APART, detail={})
        made = [c for c in contexts if c.group.startswith((PREFIX, "text: ", "field: "))]
        return _store(campaign, [_with(c, "") for c in made], how, user)
    if how == TEXT:
        texts, by_pk = _texts(contexts), {c.pk: c for c in contexts}
        groups = [[by_pk[pk] for pk in group] for group in copies(list(texts), texts)]
        changed = [_with(c, f"text: {group[0].key}") for group in groups for c in group if not c.group or _made(c)]
        return _store(campaign, changed, how, user)
    values = _fields(contexts).get(how)
    if values is None:
        known = ", ".join(map(quoted, _fields(contexts))) or "none"
        raise Refused(f"Contexts have no field {quoted(how)} in their metadata; there are: {known}.")
    changed = [_with(c, f"field: {how} {values[c.pk]}") for c in contexts if c.pk in values and (not c.group or _made(c))]
    return _store(campaign, changed, how, user)


def _made(context: Context) -> bool:
    """Was its group made here, and not given by a file?"""
    return context.group.startswith((PREFIX, "text: ", "field: "))


def _with(context: Context, group: str) -> Context:
    context.group = group[:200]
    return context


def _store(campaign: Campaign, changed: list[Context], how: str, user: User | None) -> int:
    if changed:
        Context.objects.bulk_update(changed, ["group"], batch_size=500)
        detail = {"by": how, "contexts": len(changed)}
        AuditEvent.objects.create(campaign=campaign, user=user, action=GROUPED, detail=detail)
    return len(changed)
