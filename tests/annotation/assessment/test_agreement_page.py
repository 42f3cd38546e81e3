"""Agreement is assessed and looked at in the browser."""

import hashlib
import json

import pytest

from annotation.assessment.assess import assess
from annotation.data.importer import import_judgments
from annotation.models import LikertScore, Output, Snapshot, User
from annotation.people.accounts import add_annotator
from tests.annotation.pages import text

pytestmark = pytest.mark.django_db


class TestQuality:
    RULE = {"mad": "1.5", "level": "interval", "on_zero_mad": "keep"}

    def test_with_nothing_to_assess_it_says_so(self, world):
        answer = world.sign_in(world.alice).post("quality/", self.RULE)
        assert answer.status_code == 422 and "nothing to assess" in text(answer)

    def test_assessing_freezes_a_snapshot_and_shows_every_number(self, scored):
        answer = scored.sign_in(scored.alice).post("quality/", self.RULE)
        assert answer.url == "/c/talk/quality/"
        snapshot = Snapshot.objects.get()
        report = snapshot.decisions.get().report
        page = text(scored.get("quality/"))
        for name in ("alpha_before", "alpha_after", "alpha_after_low", "fleiss_kappa", "cohen_kappa_mean"):
            assert f"{report[name]:.3f}".replace("-", "−") in page, name
        assert f"{report['kept']} of {report['scores']}" in page and report["reason"].split(";")[0] in page
        assert snapshot.name in page and "interval, MAD 1.5, MAD 0 keeps" in page and "alice" in page

    def test_pairs_have_their_own_table(self, world, tmp_path):
        rows = [
            {
                "context_id": "c0",
                "context": ["Hello 0.", "Hi there 0!"],
                "system_a": "Hydra-system",
                "output_a": "Reply 0 to 0",
                "system_b": "Kraken-system",
                "output_b": "Reply 1 to 0",
                "annotator": a,
                "choice": choice,
            }
            for a, choice in (("p", "A"), ("q", "A"), ("r", "tie"))
        ]
        path = tmp_path / "judgments.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        import_judgments(world.campaign, path)
        assess(world.campaign)
        page = text(world.sign_in(world.alice).get("quality/"))
        assert "A, tie and B as nominal categories" in page and "Pairs: " in page

    def test_a_wrong_rule_is_refused(self, scored):
        answer = scored.sign_in(scored.alice).post("quality/", self.RULE | {"level": "cardinal"})
        assert answer.status_code == 422 and Snapshot.objects.count() == 0

    def test_a_snapshot_has_a_page_and_a_file_with_its_hash(self, scored):
        snapshot = assess(scored.campaign)
        page = text(scored.sign_in(scored.alice).get(f"snapshots/{snapshot.name}/"))
        assert snapshot.digest in page and "ordinal, MAD 1, MAD 0 drops" in page
        file = scored.get(f"snapshots/{snapshot.name}.jsonl")
        assert hashlib.sha256(content := b"".join(file.streaming_content)).hexdigest() == snapshot.digest
        assert file["Content-Length"] == str(len(content))
        assert scored.get("snapshots/000000000000/").status_code == 404
        for user in (scored.bob, scored.charlie):
            scored.sign_in(user)
            assert scored.get(f"snapshots/{snapshot.name}/").status_code == 404
            assert scored.get(f"snapshots/{snapshot.name}.jsonl").status_code == 404

    def test_overruling_needs_a_reason_and_keeps_it(self, world):
        overall = world.campaign.criteria.get(name="Overall")
        for n in range(2):
            person = add_annotator(world.campaign, User.objects.create_user(f"judge{n}"))
            for i, output in enumerate(Output.objects.all()):
                LikertScore.objects.create(annotator=person, output=output, criterion=overall, value=1 + (i + 2 * n) % 5)
        decision = assess(world.campaign, mad=9, on_zero_mad="keep").decisions.get()
        address = f"decisions/{decision.pk}/overrule/"
        assert "Overrule, with a reason" in text(world.sign_in(world.alice).get("quality/"))
        world.post(address, {"reason": "  "})
        decision.refresh_from_db()
        assert not decision.overrule_reason
        world.post(address, {"reason": "A pilot; more will come."})
        decision.refresh_from_db()
        assert decision.overruled_by == world.alice and decision.overrule_reason == "A pilot; more will come."
        assert "A pilot; more will come." in text(world.get("quality/"))
