"""What the page tests stand on: Alice the researcher, Bob the annotator, Charlie who has no business here."""

import json
import re

from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.data.importer import import_outputs
from annotation.models import User
from annotation.people.accounts import add_annotator

CRITERIA = [
    CriterionSpec("Overall", 1, 5, "poor", "excellent", "Is it a good reply?"),
    CriterionSpec("Fluency", 0, 1, "broken", "fluent"),
]
GUIDELINES = "# Be kind\n\nRead **both** lines.<script>x</script>"
PNG = bytes.fromhex(  # one grey pixel
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a"
    "7e9b550000000a49444154789c636800000082008177cd72b60000000049454e44ae426082"
)
SYSTEMS = ("Hydra-system", "Kraken-system", "Human-writer")


class World:
    """One campaign, its people, and a shortcut to sign in."""

    def __init__(self, tmp_path, client, contexts=2, **settings):
        self.client = client
        self.alice = User.objects.create_user("alice", password="a-long-password", may_create_campaigns=True)
        self.bob = User.objects.create_user("bob", password="a-long-password", first_name="Bob")
        self.charlie = User.objects.create_user("charlie", password="a-long-password")
        self.campaign = create_campaign(
            slug="talk", title="Small talk", criteria=CRITERIA, guidelines=GUIDELINES, user=self.alice, **settings
        )
        if contexts:
            import_outputs(self.campaign, write_outputs(tmp_path, contexts), human_systems=["Human-writer"])
        self.campaign.refresh_from_db()
        self.annotator = add_annotator(self.campaign, self.bob)

    def sign_in(self, user):
        self.client.force_login(user)
        return self

    def get(self, path="", **extra):
        return self.client.get(f"/c/talk/{path}", **extra)

    def post(self, path="", data=None, **extra):
        return self.client.post(f"/c/talk/{path}", data or {}, **extra)


def write_outputs(folder, contexts=2, systems=SYSTEMS):
    path = folder / "outputs.jsonl"
    rows = [
        {"context_id": f"c{c}", "context": [f"Hello {c}.", f"Hi there {c}!"], "system": s, "output": f"Reply {n} to {c}"}
        for c in range(contexts)
        for n, s in enumerate(systems)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def hidden(response) -> dict:
    """The hidden fields of the answer's form."""
    html = response.content.decode()
    form = html[html.index("data-answer") :]
    return dict(re.findall(r'type="hidden" name="(assignment|key|shown)" value="([^"]*)"', form))


def text(response) -> str:
    return response.content.decode()
