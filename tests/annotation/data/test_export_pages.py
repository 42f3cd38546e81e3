"""The overview, and what is taken away from it."""

import json

import pytest

from annotation.models import Campaign
from tests.annotation.pages import text

pytestmark = pytest.mark.django_db


class TestOverviewAndExport:
    def test_the_overview_counts(self, scored, django_assert_max_num_queries):
        scored.sign_in(scored.alice)
        with django_assert_max_num_queries(20 + 4):  # with what comes next
            page = text(scored.get())
        assert "0 of 6 items judged" in page or "6 of 6" in page
        assert "<dd>18</dd>" in page and "export/scores.csv" in page

    def test_exports_stream_what_counts(self, scored):
        scored.sign_in(scored.alice)
        lines = b"".join(scored.get("export/scores.jsonl").streaming_content).decode().splitlines()
        assert len(lines) == 18 and json.loads(lines[0])["aspect"] == "Overall"
        table = scored.get("export/scores.csv")
        assert "talk-scores.csv" in table["Content-Disposition"]
        assert b"".join(table.streaming_content).decode().count("\n") == 19
        assert scored.get("export/secrets.csv").status_code == scored.get("export/scores.xml").status_code == 404

    def test_pausing_and_opening(self, world):
        world.sign_in(world.alice).post("status/", {"status": "paused"})
        assert "Paused. Annotators see" in text(world.get()) and Campaign.objects.get().status == "paused"
        world.post("status/", {"status": "open"})
        assert Campaign.objects.get().status == "open"

    def test_guidelines_are_written_here(self, world):
        world.sign_in(world.alice).post("guidelines/", {"guidelines": "Now *this*."})
        assert "<em>this</em>" in text(world.get("guidelines/"))

    @pytest.mark.parametrize("path", ["", "import/", "people/", "quality/", "guidelines/"])
    def test_simulated_data_is_labelled_everywhere(self, world, path):
        Campaign.objects.update(is_simulated=True)
        assert "simulated data" in text(world.sign_in(world.alice).get(path))

    def test_simulated_data_is_labelled_for_annotators_too(self, world):
        Campaign.objects.update(is_simulated=True)
        world.sign_in(world.bob)
        assert "simulated data" in text(world.get("annotate/?start=1")) and "simulated data" in text(world.client.get("/"))
