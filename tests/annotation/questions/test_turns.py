"""Conversations that are judged turn by turn: what is read, who gets which turn when, what is asked at the last one."""

import csv
import io
import json
import threading
import uuid
from datetime import timedelta

import krippendorff
import openpyxl
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.db.models import Avg
from django.utils import timezone

from annotation import snapshots
from annotation.annotating import places
from annotation.annotating.assignment import next_assignment, progress
from annotation.annotating.submissions import submit, submit_and_go_on
from annotation.assessment.assess import assess
from annotation.campaigns.items import KnownAnswer, set_known_answers
from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec, change_campaign
from annotation.campaigns.templates import TEMPLATES, settings_of
from annotation.data.export import as_jsonl, exported_answers, exported_rows
from annotation.data.importer import import_outputs, import_scores
from annotation.design.gold_and_repeats import gold_due, is_gold
from annotation.models import Assignment, LikertScore, Output, Upload, User
from annotation.people.accounts import add_annotator
from annotation.questions import conditions
from core.errors import ImportRefused, Refused
from leaderboard.archive.admission import admit
from leaderboard.archive.export import write_archive
from leaderboard.boards import queries
from leaderboard.boards.cautions import cautions
from tests.leaderboard.played import by_people

LAST = {"turn": "last"}
IN_CONTEXT = "stands in the context of the turns after it"
WHOLE = CriterionSpec("Whole", 1, 5, asked_if=LAST)


def talk(conversation, system, answers):
    """A conversation in which a user speaks first, and last."""
    turns = [{"role": "user", "text": f"{conversation} asks 1"}]
    for n in range(1, answers + 1):
        turns += [{"role": "assistant", "text": f"{system} says {n} in {conversation}"}]
        turns += [{"role": "user", "text": f"{conversation} asks {n + 1}"}]
    return {"conversation_id": conversation, "system": system, "turns": turns}


TALKS = [talk(f"{system}{n}", system, answers) for n, answers in ((1, 3), (2, 2)) for system in ("s0", "s1")]


def table(talks, delimiter=","):
    """The same, a row for each turn; only a system's turns name it, and the last rows stand first."""
    rows = [
        {"conversation_id": one["conversation_id"], "turn": n, "system": one["system"] if turn["role"] == "assistant" else ""}
        | turn
        for one in talks
        for n, turn in enumerate(one["turns"])
    ]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(reversed(rows))
    return text.getvalue()


def read(campaign, text, name="talks.jsonl", **how):
    lines = text if isinstance(text, str) else "".join(json.dumps(row) + "\n" for row in text)
    return import_outputs(campaign, io.BytesIO(lines.encode()), name, **how)


def made(slug="turns", talks=TALKS, **settings):
    campaign = create_campaign(slug=slug, criteria=[CriterionSpec("Turn", 1, 5), WHOLE], **{"overlap": 3, **settings})
    if talks:
        read(campaign, talks)
    campaign.refresh_from_db()
    return campaign


def person(campaign, name):
    return add_annotator(campaign, User.objects.create_user(name))


def place(assignment):
    """(conversation, turn)"""
    context = assignment.item.context
    return context.metadata["conversation"], context.turn[0]


def answer(annotator, assignment, value=3):
    turn, whole = annotator.campaign.criteria.all()
    return submit(annotator, assignment.pk, uuid.uuid4(), {"scores": {turn.pk: value, whole.pk: value}})


def work(annotator, items):
    """The places of the next so many turns, answered."""
    handed = []
    for _ in range(items):
        if (assignment := next_assignment(annotator)) is None:
            break
        answer(annotator, assignment)
        handed.append(place(assignment))
    return handed


@pytest.mark.django_db
class TestWhatIsRead:
    def test_a_list_of_turns_and_tables_are_the_same(self):
        campaigns = [made("jsonl"), made("csv", ()), made("tsv", ())]
        read(campaigns[1], table(TALKS), "talks.csv")
        read(campaigns[2], table(TALKS, "\t"), "talks.tsv")
        rows = [sorted(map(json.dumps, exported_rows(campaign, "outputs"))) for campaign in campaigns]
        assert rows[0] == rows[1] == rows[2]
        first = json.loads(rows[0][0])
        assert first["context_id"] == "s01, s0, turn 1" and first["group"] == "s01"
        assert first["context"] == ["s01 asks 1"] and first["output"] == "s0 says 1 in s01"
        assert first["metadata"] == {"conversation": "s01", "turn": 1, "turns": 3, "roles": ["user"]}
        second = json.loads(rows[0][1])
        assert second["context"] == ["s01 asks 1", "s0 says 1 in s01", "s01 asks 2"] and second["metadata"]["turn"] == 2

    def test_numbers_of_turns_as_pandas_writes_them(self):
        """A column of whole numbers with a gap is one of floats: 1.0."""
        plain, campaigns = table(TALKS), [made(f"floats-{n}", talks=()) for n in range(3)]
        header, *rows = csv.reader(io.StringIO(plain))
        at = header.index("turn")
        floats = [[*row[:at], f"{row[at]}.0", *row[at + 1 :]] for row in rows]
        as_lines = [{name: cell or None for name, cell in zip(header, row)} | {"turn": float(row[at])} for row in rows]
        read(campaigns[0], plain, "t.csv")
        read(campaigns[1], "\n".join(map(",".join, [header, *floats])), "t.csv")
        read(campaigns[2], as_lines)
        of = [[row | {"campaign": ""} for row in exported_rows(campaign, "outputs")] for campaign in campaigns]
        assert of[0] == of[1] == of[2] and len(of[0]) == 10

    def test_a_blank_group_is_the_conversation(self):
        campaign = made(talks=())
        read(campaign, [talk("c", "s0", 2) | {"group": ""}, talk("d", "s0", 2) | {"group": "tea"}])
        assert sorted(campaign.contexts.values_list("group", flat=True)) == ["c", "c", "tea", "tea"]

    def test_all_turns_are_stored_or_listed(self):
        result = read(made(talks=()), TALKS)
        assert (result.rows, result.new["outputs"], result.new["contexts"]) == (24, 10, 10)
        assert result.left_out == {
            "is a user's turn; it stands in the context of the turns after it": 10,
            "is a user's turn; it stands in no context, since no system answers it": 4,
        }
        assert [(file, line) for file, line, _ in result.listed[:4]] == [("talks.jsonl", 1)] * 4

    def test_what_becomes_of_each_kind_of_turn(self):
        said = [
            ("system", "Be kind."),
            ("assistant", "Hello."),
            ("user", "Hi"),
            ("user", ""),
            ("assistant", "One."),
            ("assistant", "Two."),
            ("narrator", "It rains."),
            ("assistant", ""),
            ("user", "Bye"),
        ]
        rows = "".join(f"c1\tm\t{role}\t{text}\n" for role, text in said)
        campaign = made(talks=())
        result = read(campaign, f"conversation_id\tsystem\trole\ttext\n{rows}", "talks.tsv")
        outputs = Output.objects.order_by("context__metadata__turn").values_list("text", "context__turns")
        assert [text for text, _ in outputs] == ["Hello.", "One.", "Two.", ""]
        assert outputs[2][1] == ["Be kind.", "Hello.", "Hi", "One."] and outputs[3][1][-1] == "It rains."
        assert result.rows == 9 == sum(result.left_out.values()) + result.new["outputs"]
        assert {line: reason for _, line, reason in result.listed} == {
            2: "is a turn of 'system' that answers nothing; it stands in the context of the turns after it",
            4: "is a user's turn; it stands in the context of the turns after it",
            5: "is empty, by 'user', and stands in no context",
            8: f"has the role 'narrator', which is neither a user's nor a system's; it {IN_CONTEXT}",
            10: "is a user's turn; it stands in no context, since no system answers it",
        }

    @pytest.mark.parametrize(
        ("turns", "outputs"),
        [
            ([("user", "a"), ("system", "b"), ("user", "c"), ("system", "d")], ["b", "d"]),  # user and system, as papers say
            ([("system", "p"), ("user", "a"), ("assistant", "b")], ["b"]),
            ([("human", "a"), ("gpt", "b")], ["b"]),
            ([("User", "a"), ("Meena", "b")], ["b"]),  # the system's own name
            ([("system", "p"), ("user", "a")], []),
        ],
    )
    def test_who_is_the_system(self, turns, outputs):
        talk = {"conversation_id": "c", "system": "Meena", "turns": [{"role": role, "text": text} for role, text in turns]}
        campaign = made(talks=())
        read(campaign, [talk])
        assert [*Output.objects.order_by("pk").values_list("text", flat=True)] == outputs

    def test_shapes_of_others(self):
        lmsys = {
            "conversation_id": "c1",
            "model": "m",
            "conversation": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}],
            "turn": 1,
        }
        sharegpt = {"id": "c2", "model": "m", "conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]}
        campaign = made(talks=())
        assert read(campaign, [lmsys]).new["outputs"] == read(campaign, [sharegpt]).new["outputs"] == 1
        assert read(campaign, [lmsys]).new == {}

    def test_a_conversation_without_turns_or_before_which_nobody_spoke(self):
        alone = {"conversation_id": "c", "system": "s0", "turns": [{"role": "assistant", "text": "Hello?"}]}
        for nothing in ([], None):
            campaign = made(f"none-{nothing is None}".lower(), ())
            result = read(campaign, [alone | {"turns": nothing}, alone, TALKS[0]])
            assert result.new["outputs"] == 3 and result.left_out == {
                "is a conversation without turns": 1,
                "is in a conversation where nobody says anything before the system, so that it answers nothing": 1,
                f"is a user's turn; it {IN_CONTEXT}": 3,
                "is a user's turn; it stands in no context, since no system answers it": 1,
            }

    def test_a_file_of_one_system_need_not_name_it(self):
        campaign = made(talks=())
        for system in ("s0", "s1"):
            read(campaign, [{name: value for name, value in talk("c", system, 2).items() if name != "system"}], system=system)
        assert sorted(campaign.contexts.values_list("key", flat=True)) == [f"c, s{s}, turn {n}" for s in "01" for n in (1, 2)]

    @pytest.mark.parametrize(
        ("text", "name", "wrong"),
        [
            (
                [{"conversation_id": "c", "turns": [{"role": "user", "text": 3}]}],
                "t.jsonl",
                (1, "turns.0.text", "expected text"),
            ),
            (
                [{"conversation_id": "c", "turns": [{"role": "user", "text": "a"}, "b"]}],
                "t.jsonl",
                (1, "turns.1", "expected a turn"),
            ),
            ([{"turns": [{"role": "user", "text": "a"}]}], "t.jsonl", (1, "conversation_id", "is missing")),
            ("conversation_id,role,text\nc,user,a\nc,,b\n", "t.csv", (3, "role", "is missing")),
            ("conversation_id,turn,role,text\nc,1,user,a\nc,1,user,b\n", "t.csv", (3, "turn", "is 1 twice by 'user'")),
            ("conversation_id,turn,role,text\nc,1,user,a\nc,,bot,b\n", "t.csv", (3, "turn", "is missing, and other")),
            ("conversation_id,turn,role,text\nc,1.0,user,a\nc,1.5,bot,b\n", "t.csv", (3, "turn", "expected a whole number")),
            (
                [{"conversation_id": "c", "turn": 1.5, "role": "user", "text": "a"}],
                "t.jsonl",
                (1, "turn", "expected a whole number"),
            ),
            ("conversation_id,system,role,text\nc,,user,a\nc,m,bot,b\nc,n,bot,b\n", "t.csv", (2, "system", "is missing, and")),
        ],
    )
    def test_what_is_refused_names_file_line_and_field(self, text, name, wrong):
        with pytest.raises(ImportRefused) as refused:
            read(made(talks=()), text, name, system="m" if "system" not in str(text) else None)
        [error] = refused.value.errors
        assert (error.file, error.line, error.field) == (name, *wrong[:2]) and wrong[2] in error.message

    def test_a_conversation_may_be_so_long(self):
        longest, longer = talk("a", "s0", 99), talk("b", "s0", 100)  # 199 and 201 turns
        result = read(made(talks=()), [longest, longer])
        assert result.new["outputs"] == 99 and result.left_out["is in a conversation of more than 200 turns"] == 201

    def test_each_checkpoint_has_its_own_conversations(self):
        campaign = made(talks=())
        result = read(campaign, [talk("c", "s0", n) | {"checkpoint": str(n)} for n in (1, 2)])
        assert (result.new["outputs"], result.new["checkpoints"], campaign.items.count()) == (3, 2, 2)
        assert campaign.contexts.filter(key="c, s0, 2, turn 2").exists()

    def test_a_sheet_of_each_system_names_it(self):
        book = openpyxl.Workbook()
        for sheet in (book.active, book.create_sheet()):
            for row in (("conversation_id", "role", "text"), ("c", "user", "a"), ("c", "bot", sheet.title)):
                sheet.append(row)
        file = io.BytesIO()
        book.save(file)
        file.seek(0)
        campaign = made(talks=())
        import_outputs(campaign, file, "talks.xlsx")
        assert sorted(campaign.contexts.values_list("key", flat=True)) == ["c, Sheet, turn 1", "c, Sheet1, turn 1"]

    def test_a_file_that_is_sent_on_the_page(self, client, settings, tmp_path):
        settings.UPLOADS_DIR = tmp_path
        campaign = made(talks=())
        alice = User.objects.create_user("alice")
        campaign.memberships.create(user=alice)
        client.force_login(alice)
        file = SimpleUploadedFile("talks.csv", table(TALKS).encode())
        page = client.post("/c/turns/import/", {"file": file, "kind": "outputs"}, follow=True).content.decode()
        assert "24 rows read" in page and "Read as conversations." in page and IN_CONTEXT in page
        client.post(f"/c/turns/import/{Upload.objects.get().pk}/store/")
        assert Output.objects.count() == 10 and campaign.items.count() == 10

    @pytest.mark.parametrize("turn", [2, "2", 2.0, "2.0"])
    def test_numbers_in_metadata_as_tables_write_them(self, turn):
        """Rows of outputs, and a table whose columns are kept."""
        of = {"context": "Q", "system": "s0", "output": "o"}
        place = {"conversation": 7.0, "turn": turn, "turns": "3"}
        campaigns = [made(f"metadata-{kept}", talks=()) for kept in ("no", "yes")]
        read(campaigns[0], [of | {"context_id": "q", "metadata": place | {"topic": "tea"}}])
        read(campaigns[0], [of | {"context_id": "q", "system": "s1", "metadata": place | {"turns": 3.0}}])
        read(campaigns[1], [of | {"context_id": "q", "topic": "tea"} | place], keep_columns=True)
        for campaign in campaigns:
            [context] = campaign.contexts.all()
            assert context.metadata == {"conversation": "7", "turn": 2, "turns": 3, "topic": "tea"}
            assert (context.turn, context.source, campaign.has_groups) == ((2, 3), "7", True)

    @pytest.mark.parametrize(
        ("place", "field", "message"),
        [
            ({"turn": "second"}, "metadata.turn", 'expected a whole number from 0, found "second"'),
            ({"turn": 1.5}, "metadata.turn", "expected a whole number from 0, found 1.5"),
            ({"turns": [3]}, "metadata.turns", "expected a whole number from 0"),
            ({"turn": "0"}, "metadata.turn", "is 0 of 3 turns; they count from 1"),
            ({"turn": 4}, "metadata.turn", "is 4 of 3 turns; they count from 1"),
            ({"conversation": ["a"]}, "metadata.conversation", "expected text"),
        ],
    )
    def test_other_numbers_in_metadata_are_refused(self, place, field, message):
        metadata = {"conversation": "c", "turn": 2, "turns": 3} | place
        rows = [{"context": q, "context_id": q, "system": "s0", "output": "o"} for q in "ab"]
        with pytest.raises(ImportRefused) as refused:
            read(made(talks=()), [rows[0], rows[1] | {"metadata": metadata}])
        [error] = refused.value.errors
        assert (error.file, error.line, error.field) == ("talks.jsonl", 2, field) and message in error.message

    def test_metadata_of_the_same_names_that_are_no_turn(self):
        of = {"context": "Q", "system": "s0", "output": "o", "metadata": {"conversation": "x", "turn": "first"}}
        campaign = made(talks=(), overlap=1)
        read(campaign, [of | {"context_id": f"q{n}"} for n in range(3)])
        campaign.refresh_from_db()
        assert "conversations" not in campaign.drawn and not Output.objects.first().context.turn
        read(campaign, TALKS)
        ann, ben = person(campaign, "ann"), person(campaign, "ben")
        while now := [(who, assignment) for who in (ann, ben) if (assignment := next_assignment(who))]:
            for who, assignment in now:
                answer(who, assignment)
        assert LikertScore.objects.filter(criterion__name="Turn").count() == 13

    def test_an_archive_keeps_the_order(self, tmp_path):
        campaign = made(overlap=2)
        handed = work(person(campaign, "ann"), 4)
        with (tmp_path / "turns.zip").open("w+b") as file:
            write_archive(campaign, file)
            file.seek(0)
            copy = admit(file, "turns.zip", slug="again").campaign
        of = lambda one: [(i.context.key, i.position, i.places, i.taken) for i in one.items.select_related("context")]
        copy.refresh_from_db()
        assert of(copy) == of(campaign) and copy.drawn["conversations"]
        assert len(handed) == 4 and copy.criteria.get(name="Whole").asked_if == LAST

    def test_a_conversation_that_grew_is_refused(self):
        campaign = made()
        with pytest.raises(ImportRefused, match="conversation 's02' has 3 turns to judge, and has 2 here already"):
            read(campaign, [talk("s02", "s0", 3)])

    def test_export_is_import(self):
        campaign = made(overlap=1)
        assert len(work(person(campaign, "ann"), 99)) == 10
        copy = made("copy", ())
        read(copy, "".join(as_jsonl(exported_rows(campaign, "outputs"))))
        import_scores(copy, io.BytesIO("".join(as_jsonl(exported_answers(campaign, "scores"))).encode()), "scores.jsonl")
        assert [*exported_rows(copy, "outputs")] == [*exported_rows(campaign, "outputs")]
        assert assess(copy).digest == assess(campaign).digest

    def test_answers_at_other_turns_are_left_out_of_an_import(self):
        campaign = made()
        row = {"system": "s0", "aspect": "Whole", "annotator": "ann", "score": 4}
        lines = [json.dumps(row | {"context_id": f"s01, s0, turn {n}"}) for n in (1, 2, 3)]
        result = import_scores(campaign, io.BytesIO("\n".join(lines).encode()), "scores.jsonl")
        assert result.new["scores"] == 1 and LikertScore.objects.get().output.context.turn == (3, 3)
        assert result.left_out == {"'Whole' is asked only at the last turn of a conversation, which does not hold": 2}


@pytest.mark.django_db
def test_a_board_of_conversations_that_each_system_had():
    """Three people score all turns, so the difference is that of plain means; each system is compared at the annotators."""
    campaign = made(talks=[talk(f"{system}{n}", system, 2) for n in range(4) for system in ("s0", "s1")])
    for p, name in enumerate(("ann", "ben", "cat")):
        annotator = person(campaign, name)
        while (assignment := next_assignment(annotator)) is not None:
            answer(
                annotator, assignment, (2 if "s0 " in assignment.item.output.text else 4) + (assignment.item.position + p) % 2
            )
    assess(campaign)
    board = queries.alone(by_people(campaign, criterion="Turn"))
    of = lambda name: LikertScore.objects.filter(criterion__name="Turn", output__system__name=name)
    means = {name: of(name).aggregate(mean=Avg("value"))["mean"] for name in ("s0", "s1")}
    [difference] = board.differences
    assert (difference.upper, difference.lower) == ("s1", "s0") and not board.is_split
    assert difference.own.value == pytest.approx(means["s1"] - means["s0"], abs=0.006)
    assert (board.population.contexts, board.population.groups) == (16, 8)
    assert (difference.won, difference.tied, difference.lost) == (0, 0, 0)  # nothing was compared on one context
    assert any(caution.text.startswith("Each system had conversations of its own") for caution in cautions(board))
    assert "turn" in {category.key for category in board.categories}
    of_whole = queries.alone(by_people(campaign, criterion="Whole"))  # asked at the last turn, whatever was answered
    assert not snapshots.read(campaign.snapshots.get()).is_conditional("Whole")
    assert "asked of some" not in {doubt.kind for doubt in of_whole.doubts}


@pytest.mark.django_db
class TestOrder:
    def test_in_order_one_conversation_before_another(self):
        handed = work(person(made(), "ann"), 99)
        assert len(handed) == 10
        conversations = list(dict.fromkeys(conversation for conversation, _ in handed))
        assert handed == [(c, n) for c in conversations for n in range(1, 4 if c.endswith("1") else 3)]

    def test_two_at_once_are_in_different_ones(self):
        campaign = made(overlap=2)
        people, seen = [person(campaign, name) for name in ("ann", "ben")], {}
        for _ in range(10):
            now = {who.name: next_assignment(who) for who in people}
            held = [place(assignment)[0] for assignment in now.values()]
            assert len(set(held)) == 2 or len(seen.get("ann", ())) > 5  # while there is one that nobody is in the midst of
            for who in people:
                seen.setdefault(who.name, []).append(place(now[who.name]))
                answer(who, now[who.name])
        for handed in seen.values():
            assert len(set(handed)) == 10
            assert all(now == (before[0], before[1] + 1) or now[1] == 1 for before, now in zip(handed, handed[1:]))
        assert all(item.taken == item.places for item in campaign.items.all())

    def test_who_comes_back_is_at_their_place(self):
        campaign = made(overlap=1)
        ann, ben = person(campaign, "ann"), person(campaign, "ben")
        first = work(ann, 1)[0][0]
        assert place(next_assignment(ann)) == (first, 2)
        assert first not in {conversation for conversation, _ in work(ben, 99)}  # which is hers
        lapsed = timezone.now() - places.HOLD - timedelta(minutes=1)
        Assignment.objects.filter(annotator=ann, status="open").update(assigned_at=lapsed)
        assert places.sweep(campaign)
        assert place(next_assignment(ann)) == (first, 2)

    def test_what_somebody_left_goes_to_others_from_there_on(self):
        campaign = made(overlap=1, talks=[talk("long", "s0", 4)])
        ann, ben = person(campaign, "ann"), person(campaign, "ben")
        work(ann, 1)
        assert place(next_assignment(ann)) == ("long", 2) and progress(ann).total == 4
        assert next_assignment(ben) is None and progress(ben).total == 0  # as where she holds all
        Assignment.objects.filter(annotator=ann, status="open").update(assigned_at=timezone.now() - 2 * places.HOLD)
        assert place(next_assignment(ben)) == ("long", 2)
        assert next_assignment(ann) is None and progress(ann).done == 1  # not in between him and the end
        assert work(ben, 99) == [("long", 2), ("long", 3), ("long", 4)]

    def test_the_quota_holds_and_conversations_that_fit_it_come_first(self):
        campaign = made(overlap=3, quota=4, talks=TALKS)
        handed = work(person(campaign, "ann"), 99)
        assert len(handed) == 4
        campaign = made("two", quota=2, talks=TALKS)
        assert [turn for _, turn in work(person(campaign, "ben"), 99)] == [1, 2]
        assert {c for c, _ in work(person(campaign, "cat"), 99)} <= {"s02", "s12"}

    def test_gold_items_come_between_conversations(self):
        talks = [talk(f"{system}{n}", system, 2) for n in range(8) for system in ("s0", "s1")]
        campaign = made(overlap=1, gold_percent=20, talks=talks)
        gold = campaign.items.order_by("position")[:4]
        set_known_answers(campaign, "gold", [KnownAnswer(item.output, {"scores": {"Turn": [3]}}) for item in gold])
        campaign.refresh_from_db()
        ann, handed = person(campaign, "ann"), []
        for _ in range(15):
            handed.append(next_assignment(ann))
            answer(ann, handed[-1])
        purposes = [assignment.purpose for assignment in handed]
        assert purposes.count("gold") in (2, 3, 4)
        for before, now in zip(handed, handed[1:]):
            if now.purpose == "gold":
                assert before.purpose == "gold" or place(before)[1] == 2

    def test_turns_of_a_conversation_have_equally_many_people(self):
        talks = [talk(f"c{n}", "s0", 3) for n in range(10)]
        campaign = made(overlap=3, overlap_percent=50, talks=talks)
        of = {}
        for item in campaign.items.select_related("context"):
            of.setdefault(item.context.metadata["conversation"], set()).add(item.places)
        assert sorted(map(len, of.values())) == [1] * 10 and set().union(*of.values()) == {1, 3}


def go_on(annotator):
    """As pages do: an answer and the next turn in one transaction."""
    assignment = next_assignment(annotator)
    turn, whole = annotator.campaign.criteria.all()
    while assignment:
        scores = {"scores": {turn.pk: 3, whole.pk: 3}}
        assignment = submit_and_go_on(annotator, assignment.pk, uuid.uuid4(), scores)[1].assignment


def closing(do):
    """In a thread, which has a connection of its own."""

    def done(*arguments):
        try:
            do(*arguments)
        finally:
            connection.close()

    return done


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite lets one write at a time; the embedded one is in memory here")
@pytest.mark.django_db(transaction=True)
def test_many_at_once_take_each_turn_as_often_as_it_is_to_be_judged():
    campaign = made(overlap=2, talks=[talk(f"{system}{n}", system, 3) for n in range(4) for system in ("s0", "s1")])
    people = [person(campaign, f"p{n}") for n in range(4)]
    threads = [threading.Thread(target=closing(go_on), args=(who,)) for who in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(campaign.items.values_list("taken", flat=True)) == {2}
    for who in people:
        handed = [place(assignment) for assignment in who.assignments.order_by("pk").select_related("item__context")]
        assert all(now[1] == 1 or now == (before[0], before[1] + 1) for before, now in zip(handed, handed[1:]))


@pytest.mark.parametrize("place", range(40))
def test_gold_that_waits_is_as_much_as_gold_that_does_not(place):
    assert gold_due(place, 15, "x") == sum(is_gold(earlier, 15, "x") for earlier in range(place + 1))


@pytest.mark.django_db
class TestTheLastTurn:
    def test_the_whole_is_asked_there_alone(self):
        campaign = made(talks=[talk("c", "s0", 2)])
        ann, (turn, whole) = person(campaign, "ann"), campaign.criteria.all()
        first = answer(ann, next_assignment(ann))
        assert first.left_out == ["Whole"] and first.payload == {"scores": {str(turn.pk): 3}}
        last = next_assignment(ann)
        with pytest.raises(Refused, match="Whole"):
            submit(ann, last.pk, uuid.uuid4(), {"scores": {turn.pk: 3}})
        assert answer(ann, last).left_out == []
        assert [*whole.scores.values_list("output__context__metadata__turn", flat=True)] == [2]

    def test_agreement_by_turn_and_of_the_whole(self):
        campaign = made()
        said = {"Turn": {}, "Whole": {}}
        for p, name in enumerate(("ann", "ben", "cat")):
            annotator = person(campaign, name)
            while (assignment := next_assignment(annotator)) is not None:
                output, turn = assignment.item.output_id, assignment.item.context.turn
                value = 1 + (output * 7 + p * (output % 3)) % 5
                answer(annotator, assignment, value)
                said["Turn"].setdefault(output, [None] * 3)[p] = value
                if turn[0] == turn[1]:
                    said["Whole"].setdefault(output, [None] * 3)[p] = value
        assert len(said["Turn"]) == 10 and len(said["Whole"]) == 4
        found = {decision.criterion.name: decision.report["alpha_before"] for decision in assess(campaign).decisions.all()}
        for name, units in said.items():
            expected = krippendorff.alpha([*zip(*units.values())], level_of_measurement="ordinal")
            assert found[name] == pytest.approx(expected, abs=1e-9)

    def test_the_page_and_the_programs_way(self, client):
        campaign = made(talks=[talk("c", "s0", 2)])
        user = User.objects.create_user("ann")
        annotator = add_annotator(campaign, user)
        client.force_login(user)
        page = client.get("/c/turns/annotate/?start=1").content.decode()
        assert "Turn 1 of 2, to score" in page and "Whole" not in page and "s0" not in page.replace("s0 says", "")
        answer(annotator, next_assignment(annotator))
        page = client.get("/c/turns/annotate/?start=1").content.decode()
        assert "Turn 2 of 2, to score" in page and "only at the last turn" in page
        assert client.post("/api/tasks/turns/next/").json()["assignment"]["turn"] == [2, 2]

    def test_conditions_that_are_none(self):
        for asked_if in ({"turn": "first"}, {"turn": []}, {"turn": [0]}, {"turn": [1], "below": 2}, {"turn": [True]}):
            with pytest.raises(Refused, match="a condition on turns"):
                conditions.check([CriterionSpec("Turn"), CriterionSpec("Whole", asked_if=asked_if)])
        with pytest.raises(Refused, match="at least one has to be asked"):
            change_campaign(made(talks=()), criteria=[WHOLE])
        some = CriterionSpec("Some", asked_if={"turn": [1, 3]})
        assert conditions.in_words(some.asked_if) == "asked only at turn 1, 3 of a conversation"
        asked = [conditions.holds_at(some.asked_if, turn) for turn in ((1, 3), (2, 3), (3, 3), None)]
        assert asked == [True, False, True, False]

    def test_the_template_begins_with_a_conversation_to_answer(self, client):
        settings = settings_of(TEMPLATES["dialogue-by-turn"])
        assert [bool(criterion.asked_if) for criterion in settings["criteria"]] == [False] * 3 + [True] * 2
        client.force_login(User.objects.create_user("eve", may_create_campaigns=True))
        page = client.get("/new/?template=dialogue-by-turn").content.decode()
        assert page.index("Turn 1 of 2") < page.index("Turn 2 of 2") and page.count("last turn”") >= 1
        assert page.count("Conversation overall") >= 2 and 'value="last turn"' in page
