"""What no browser and no honest program sends is refused in words: none of it is an error of the server."""

import json
from urllib.parse import urlencode

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.forms.campaigns import CriterionForm
from annotation.models import Upload
from annotation.people.invitations import invite
from tests.annotation.data.hostile_files import archive
from tests.annotation.data.malformed import parts_of
from tests.annotation.data.test_peoples_files import excel
from tests.annotation.pages import World

pytestmark = pytest.mark.django_db
NUL, FORM = "%00", "application/x-www-form-urlencoded"


@pytest.fixture
def world(tmp_path, client, settings):
    settings.UPLOADS_DIR = tmp_path / "uploads"
    world = World(tmp_path, client)
    return world.sign_in(world.alice)


def send(world, name: str, body: str) -> tuple[str, str]:
    """(state of the upload, its page); the page is fetched again, so that it stays whole."""
    world.post("import/", {"file": SimpleUploadedFile(name, body.encode()), "kind": "outputs"})
    upload = Upload.objects.get()
    page = world.get(f"import/{upload.pk}/")
    assert page.status_code == 200
    return upload.state, page.content.decode()


class TestFiles:
    def test_a_cell_of_brackets_is_a_text(self, world):
        state, page = send(world, "rows.csv", "context_id,context,system,output\nnew," + "[" * 5000 + ",x,Good day\n")
        assert state == "fine" and "[[[[" in page

    @pytest.mark.parametrize("name", ["rows.csv", "rows.jsonl"])
    def test_a_number_of_thousands_of_digits_is_refused(self, world, name):
        row = {"context_id": "new", "context": "Hello", "system": "x", "output": "Good day", "iteration": "9" * 5000}
        body = ",".join(row) + "\n" + ",".join(row.values()) if name.endswith("csv") else json.dumps(row)
        state, page = send(world, name, body)
        assert state == "refused" and "expected a whole number from 0" in page

    @pytest.mark.parametrize("depth", [60, 950])
    def test_deep_nesting_is_refused_and_its_page_stays(self, world, depth):
        deep = '{"a":' * depth + "1" + "}" * depth
        row = '{"context_id": "new", "context": "Hello", "system": "x", "output": "Good day", "metadata": %s}'
        state, page = send(world, "rows.jsonl", row % deep)
        assert state == "refused" and "is nested too deeply" in page

    def test_some_nesting_is_fine(self, world):
        row = '{"context_id": "new", "context": "Hello", "system": "x", "output": "Good day", "metadata": %s}'
        assert send(world, "rows.jsonl", row % ('{"a":' * 20 + "1" + "}" * 20))[0] == "fine"

    def test_a_name_is_no_number_of_hundreds_of_digits(self, world):
        row = f'{{"context_id": {"9" * 300}, "context": "Hello", "system": "x", "output": "Good day"}}'
        state, page = send(world, "rows.jsonl", row)
        assert state == "refused" and "is 300 characters long; at most 200 are allowed" in page

    @pytest.mark.parametrize(
        "number, sentence",
        [
            ("9" * 5000, "a number has 5,000 digits"),
            ("1e999", "is too large for a number"),
            ("Infinity", "Infinity is not a number"),
        ],
    )
    def test_a_number_that_no_database_keeps_is_refused(self, world, number, sentence):
        row = '{"context_id": "new", "context": "Hello", "system": "x", "output": "Good day", "metadata": {"a": NUMBER}}'
        row = row.replace("NUMBER", number)
        state, page = send(world, "rows.jsonl", row)
        assert state == "refused" and sentence in page

    def test_line_ends_of_old_computers_are_read(self, world):
        state, page = send(world, "rows.csv", "context_id,context,system,output\rnew,Hello,x,Good day\r")
        assert state == "fine" and "Good day" in page

    @pytest.mark.parametrize("name", [".", ""])
    def test_a_zipped_file_without_a_name_is_refused(self, world, name):
        raw = archive([("a.csv", b"context,output\nHello,Good day\n"), (name, b"x")])
        answer = world.client.post("/api/campaigns/talk/import/outputs/", {"file": SimpleUploadedFile("a.zip", raw)})
        assert answer.status_code == 422 and "holds a file without a name" in answer.json()["message"]

    def test_a_cell_far_from_the_others_takes_no_memory(self, world):
        parts, sheet = parts_of(excel([["context", "output"], ["Hello", "Good day"]])), "xl/worksheets/sheet1.xml"
        far = b'<row r="9999999999"><c r="A9999999999"><v>1</v></c></row></sheetData>'
        raw = archive(list({**parts, sheet: parts[sheet].replace(b"</sheetData>", far)}.items()))
        answer = world.client.post("/api/campaigns/talk/import/outputs/", {"file": SimpleUploadedFile("a.xlsx", raw)})
        assert answer.status_code == 422 and "spreads over more than 1,000,000 cells" in answer.json()["message"]


class TestApi:
    def patch(self, world, body: str):
        return world.client.patch("/api/campaigns/talk/", body, content_type="application/json")

    def test_a_criterion_without_a_name_is_refused(self, world):
        answer = self.patch(world, '{"criteria": [{}]}')
        assert answer.status_code == 400 and answer.json()["errors"][0]["field"] == "criteria.0.name"

    @pytest.mark.parametrize("depth", [60, 100_000])
    def test_deep_nesting_is_refused(self, world, depth):
        answer = self.patch(world, '{"criteria": ' + "[" * depth + "]" * depth + "}")
        assert answer.status_code == 400 and answer.json()["message"] == "The JSON is nested too deeply."

    @pytest.mark.parametrize("number", ["1e999", "NaN", "9" * 5000])
    def test_a_number_that_cannot_be_written_again_is_refused(self, world, number):
        answer = self.patch(world, f'{{"overlap": {number}}}')
        assert answer.status_code == 400 and "is not valid" in answer.json()["message"]

    def test_a_point_of_thousands_of_digits_is_refused(self, world):
        criterion = {"name": "New", "anchors": {"9" * 5000: "x"}}
        assert self.patch(world, json.dumps({"criteria": [criterion]})).status_code == 400


class TestAddressesAndForms:
    def test_no_nul_reaches_the_database(self, world):
        token = invite(world.campaign).token
        for path in (
            f"/join/{NUL}/",
            f"/join/{token}/?PROLIFIC_PID={NUL}",
            f"/c/talk/leaderboard/?criterion={NUL}",
            f"/api/campaigns/talk/leaderboard/?judge={NUL}",
        ):
            assert world.client.get(path).status_code == 400, path
        assert world.client.post(f"/join/{token}/?PROLIFIC_PID=x{NUL}").status_code == 400
        for kind in ({"why": "a\0"}, {"why\0": "a"}):
            assert world.sign_in(world.bob).post("annotate/", kind).status_code == 400
            assert world.client.post("/c/talk/annotate/", urlencode(kind), content_type=FORM).status_code == 400
        world.client.cookies["sessionid"] = "\0" * 32
        assert world.client.get("/").status_code == 400

    @pytest.mark.parametrize("taken", ["9" * 5000, "²", "-1"])
    def test_numbers_in_addresses_are_numbers_or_nothing(self, world, taken):
        assert world.client.get("/c/talk/items/", {"taken": taken}).status_code == 200
        assert world.client.get("/c/talk/leaderboard/samples/", {"tournament": taken}).status_code in (200, 404)

    @pytest.mark.parametrize("point", ["--3", "9" * 5000])
    def test_points_in_forms_are_numbers_or_refused(self, world, point):
        form = CriterionForm({"name": "New", "low": 1, "high": 5, "anchors": f"{point} would do"})
        assert not form.is_valid() and "start with a point of the scale" in str(form.errors)
