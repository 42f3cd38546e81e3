"""What an import holds the database for: the rows are read, checked, drawn and made ready before its transaction begins."""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.campaigns.items import draw_items
from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.data import importer, outputs
from annotation.data.insertion import Insertion, give_keys
from annotation.models import Annotator, Context, LikertScore, Output, System

OVERALL = CriterionSpec("Overall", 1, 5)


@pytest.fixture
def campaign(db):
    return create_campaign(slug="talk", title="Talk", criteria=[OVERALL], pairwise=True, overlap=2, overlap_percent=50)


@pytest.fixture
def file(tmp_path):
    """file(first, last): a path with outputs of three systems, one with checkpoints, on these contexts."""

    def write(first, last, systems=("alpha", "beta", "gamma")):
        rows = [
            {"context_id": f"c{c}", "context": [f"Question {c}?"], "system": s, "output": f"{s} {c}", "references": [f"r{c}"]}
            | ({"iteration": 10, "total_iterations": 20} if s == "gamma" else {})
            for c in range(first, last)
            for s in systems
        ]
        path = tmp_path / "outputs.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    return write


def drawn(campaign):
    fields = ("position", "context__key", "output__text", "other__text", "places", "starts_swapped", "cell")
    return list(campaign.items.order_by("position").values_list(*fields))


def test_the_items_are_those_that_the_stored_corpus_gives(campaign, file):
    importer.import_outputs(campaign, file(0, 20))
    of_import = drawn(campaign)
    assert len(of_import) == 60 + 60  # a score for each output, three pairs in a ring of three systems for each context
    campaign.items.all().delete()
    draw_items(campaign)
    assert drawn(campaign) == of_import


def test_a_second_file_s_items_come_after_those_of_the_first(campaign, file):
    importer.import_outputs(campaign, file(0, 10))
    before = drawn(campaign)
    result = importer.import_outputs(campaign, file(5, 20))
    assert result.new == {"contexts": 10, "references": 10, "outputs": 30, "items": 60}
    assert drawn(campaign)[:60] == before and [row[0] for row in drawn(campaign)] == list(range(120))
    assert draw_items(campaign) == 0


def test_many_rows_take_few_statements(campaign, file):
    with CaptureQueriesContext(connection) as few:
        importer.import_outputs(campaign, file(0, 2))
    with CaptureQueriesContext(connection) as many:
        importer.import_outputs(campaign, file(2, 100))
    if connection.vendor == "sqlite":  # PostgreSQL lets others write meanwhile
        assert len(many) <= len(few)


@pytest.mark.django_db(transaction=True)
def test_nothing_is_read_or_drawn_while_the_database_is_held(campaign, file, monkeypatch):
    held = []

    def noting(module, name):
        work = getattr(module, name)
        monkeypatch.setattr(
            module, name, lambda *words, **named: held.append(connection.in_atomic_block) or work(*words, **named)
        )

    noting(importer, "_take_all")
    noting(outputs, "new_items")
    noting(outputs.OutputsImport, "prepare_corpus")
    take_all = importer._take_all
    answers = iter([answer_something, campaign_grows])  # what others write while the file is read, the first two times

    def read_while_others_write(*words):
        read = take_all(*words)
        next(answers, lambda campaign: None)(campaign)
        return read

    importer.import_outputs(campaign, file(0, 5, ["alpha"]))
    monkeypatch.setattr(importer, "_take_all", read_while_others_write)
    held.clear()
    importer.import_outputs(campaign, file(5, 10))
    assert held == [False] * 3  # an answer is nothing that outputs are compared with
    importer.import_outputs(campaign, file(10, 15))
    assert held == [False] * 9  # read once more, without the lock
    assert Output.objects.filter(context__campaign=campaign).count() == 5 + 15 + 15 + 1


def answer_something(campaign):
    annotator = Annotator.objects.create(campaign=campaign, name="ann")
    output = Output.objects.filter(context__campaign=campaign).first()
    LikertScore.objects.create(annotator=annotator, output=output, criterion=campaign.criteria.get(), value=3)


def campaign_grows(campaign):
    context = Context.objects.create(campaign=campaign, key="by somebody else", turns=["Hello"])
    Output.objects.create(context=context, system=campaign.systems.get(name="alpha"), text="Hello.")


@pytest.mark.django_db(transaction=True)
def test_a_campaign_that_always_changes_is_read_under_the_lock_in_the_end(campaign, file, monkeypatch):
    take_all, held = importer._take_all, []

    def grow(*words):
        held.append(connection.in_atomic_block)
        if not held[-1]:
            Context.objects.create(campaign=campaign, key=f"other {len(held)}", turns=["Hello"])
        return take_all(*words)

    monkeypatch.setattr(importer, "_take_all", grow)
    importer.import_outputs(campaign, file(0, 5))
    assert held == [False] * importer.READ_AGAIN + [True]
    assert campaign.contexts.count() == 5 + importer.READ_AGAIN


def test_an_error_while_storing_leaves_nothing(campaign, file, monkeypatch):
    monkeypatch.setattr(outputs, "settle", lambda *words: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        importer.import_outputs(campaign, file(0, 5))
    assert not campaign.systems.exists() and not campaign.contexts.exists() and not campaign.items.exists()


def test_keys_that_were_given_come_to_no_other_row(campaign):
    rows = [System(campaign=campaign, name=f"s{n}") for n in range(3)]
    give_keys(rows)
    other = System.objects.create(campaign=campaign, name="made meanwhile")
    assert len({other.pk, *(row.pk for row in rows)}) == 4
    context = Context(campaign=campaign, key="c", turns=["quote ' and %s", "ä"], metadata={"a": [1]})
    give_keys([context])
    output = Output(context=context, system=rows[0], text="x")
    give_keys([output])
    for new in (rows, [context], [output], []):
        Insertion(new).write()
    stored = Output.objects.select_related("context", "system").get()
    assert (stored.context.turns, stored.context.metadata, stored.metadata) == (["quote ' and %s", "ä"], {"a": [1]}, {})
    assert (stored.system, stored.checkpoint, stored.sample, stored.pk) == (rows[0], None, 0, output.pk)
    assert rows[0].created_at and System.objects.get(name="s0").created_at == rows[0].created_at
