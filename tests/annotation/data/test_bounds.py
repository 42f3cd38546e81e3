"""Files that are small and unpack to much: a web process leaves them to a worker, and a worker ends what takes too long."""

import gzip
import io
import time
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.data import uploads
from annotation.models import Job, Upload
from core import archives, table_rows, wall_clock
from core.errors import ImportRefused, Refused
from core.rowfiles import read_rows
from core.table_rows import MAX_CELLS, MAX_COLUMNS
from tests.annotation.pages import World

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKED = "application/vnd.openxmlformats-officedocument.spreadsheetml"
TYPES = f"""<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Override PartName="/xl/workbook.xml" ContentType="{PACKED}.sheet.main+xml"/>
<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{PACKED}.worksheet+xml"/></Types>"""


def sheet(rows: int, columns: int) -> bytes:
    """An Excel file whose cells all hold 1, but for a header."""
    head = "".join(f'<c t="inlineStr"><is><t>c{n}</t></is></c>' for n in range(columns))
    cells = f"<row>{head}</row>" + ("<row>" + "<c><v>1</v></c>" * columns + "</row>") * (rows - 1)
    relation = f'<Relationships xmlns="{RELATIONS}"><Relationship Id="r1" Type="{OFFICE}/%s" Target="%s"/></Relationships>'
    parts = {
        "[Content_Types].xml": TYPES,
        "_rels/.rels": relation % ("officeDocument", "xl/workbook.xml"),
        "xl/_rels/workbook.xml.rels": relation % ("worksheet", "worksheets/sheet1.xml"),
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>'
        '<sheet name="s" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{MAIN}"><sheetData>{cells}</sheetData></worksheet>',
    }
    return zipped(parts)


def zipped(parts: dict[str, str | bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


@pytest.fixture
def world(tmp_path, client, settings):
    settings.UPLOADS_DIR = tmp_path / "uploads"
    world = World(tmp_path, client)
    return world.sign_in(world.alice)


@pytest.mark.django_db
class TestPages:
    @pytest.mark.parametrize("name", ["rows.xlsx", "sheets.zip"])
    def test_a_web_process_does_not_read_them(self, world, name):
        content = sheet(1000, 400)
        if name == "sheets.zip":
            content = zipped({f"{number}.xlsx": content for number in range(30)})
        assert len(content) < 100_000  # and 400,000 cells in each sheet
        begin = time.process_time()
        world.post("import/", {"file": SimpleUploadedFile(name, content), "kind": "outputs"})
        upload = Upload.objects.get()
        page = world.get(f"import/{upload.pk}/")
        world.post(f"import/{upload.pk}/store/", {"columns_form": "1"})
        assert page.status_code == 200 and time.process_time() - begin < 2
        assert upload.job.status == Job.Status.QUEUED and upload.is_busy and not upload.sample

    def test_the_worker_names_the_columns_and_checks(self, world):
        rows = "".join(
            f'{{"context_id": "n{n}", "context": "Hi", "system": "x", "output": "{"y" * 300}"}}\n' for n in range(800)
        )
        world.post("import/", {"file": SimpleUploadedFile("rows.jsonl", rows.encode()), "kind": "outputs"})
        upload = Upload.objects.get()
        assert upload.state == "new" and upload.job
        uploads.work(upload)
        assert upload.state == "fine" and upload.sample["columns"] == ["context_id", "context", "system", "output"]
        Job.objects.update(status=Job.Status.DONE)
        page = world.get(f"import/{upload.pk}/").content.decode()
        assert "First rows" in page and "y" * 200 not in page

    def test_a_worker_asks_for_columns_that_it_does_not_know(self, world):
        rows = "".join(f'{{"a": "n{n}", "b": "{"y" * 300}"}}\n' for n in range(800))
        world.post("import/", {"file": SimpleUploadedFile("rows.jsonl", rows.encode()), "kind": "outputs"})
        upload = Upload.objects.get()
        uploads.work(upload)
        assert upload.state == "new" and upload.sample["columns"] == ["a", "b"]
        Job.objects.update(status=Job.Status.DONE)
        assert "Columns</h2>" in world.get(f"import/{upload.pk}/").content.decode()

    def test_what_a_worker_reads_for_too_long_is_refused(self, world, monkeypatch):
        monkeypatch.setattr(uploads, "READING", 0.3)
        world.post("import/", {"file": SimpleUploadedFile("rows.xlsx", sheet(1000, 400)), "kind": "outputs"})
        upload = Upload.objects.get()
        uploads.work(upload)
        assert upload.state == "refused" and "takes longer to read" in upload.errors[0][2]


class TestReaders:
    def test_cells_are_counted(self, monkeypatch):
        assert MAX_CELLS == 1_000_000
        monkeypatch.setattr(table_rows, "MAX_CELLS", 10_000)
        assert len(list(read_rows(io.BytesIO(sheet(11, 900)), "rows.xlsx"))) == 11 - 1
        with pytest.raises(ImportRefused, match="more than 10,000 cells"):
            list(read_rows(io.BytesIO(sheet(12, 900)), "rows.xlsx"))

    def test_columns_are_counted(self):
        header = ",".join(f"c{n}" for n in range(MAX_COLUMNS + 1))
        with pytest.raises(ImportRefused, match="columns"):
            list(read_rows(io.BytesIO(f"{header}\n{header}\n".encode()), "rows.csv"))


class TestWeight:
    @settings(deadline=None, max_examples=40)
    @given(size=st.integers(0, 3000), kind=st.sampled_from(["jsonl", "gz", "zip", "xlsx", "zip of gz", "zip of xlsx"]))
    def test_what_is_unpacked_is_weighed(self, size, kind):
        content = b"x" * size
        if kind in ("gz", "zip of gz"):
            content = gzip.compress(content)
        if kind in ("xlsx", "zip of xlsx"):
            content = zipped({"a.xml": content})
        if kind.startswith("zip"):
            content = zipped({f"a.{kind.rpartition(' ')[2]}": content})
        file = io.BytesIO(content)
        packed = len(content) if kind == "jsonl" else size
        assert archives.is_longer(file, f"a.{kind.split()[0]}", 2000) >= (packed > 2000)
        assert not archives.is_longer(file, f"a.{kind.split()[0]}", size + 1000) and file.tell() == 0

    @given(content=st.binary(max_size=200), name=st.sampled_from(["a.zip", "a.gz", "a.xlsx", "a.csv"]))
    def test_anything_is_weighed(self, content, name):
        assert archives.is_longer(io.BytesIO(content), name, 300) is False


def test_work_ends_by_the_clock():
    with pytest.raises(Refused, match="too long"), wall_clock.at_most(0.05, "too long"):
        while True:
            try:
                time.sleep(0.01)
            except Exception:
                pytest.fail("an error that readers would take for one of the file's")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_what_is_lost_while_an_object_is_deleted_rings_again():
    class Slow:
        def __del__(self):
            end = time.monotonic() + 0.3
            while time.monotonic() < end:
                pass

    with pytest.raises(Refused, match="too long"), wall_clock.at_most(0.1, "too long"):
        one = Slow()
        del one  # the first ring is raised in here, and Python goes on
        time.sleep(3)
