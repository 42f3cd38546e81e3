"""What admins do with comparators on the admin site; the service that does it is tested in test_registry.py."""

import pytest

from annotation.campaigns.lifecycle import create_campaign
from annotation.models import AuditEvent, User
from evaluator.models import ComparatorVersion
from evaluator.versions import registry

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    return create_campaign(slug="talk", title="Talk", user=User.objects.create_superuser("alice"))


def version(campaign, name, passed):
    asked = {"question": "Better?", "passed": passed, "answer": "It is." if passed else "It is not."}
    made = ComparatorVersion.objects.create(
        name=name, settings={}, seed=1, snapshots=[], code="x", metrics={}, gates={campaign.slug: [asked]}
    )
    made.campaigns.add(campaign)
    return made


def promote(client, *versions):
    chosen = {"action": "promote", "_selected_action": [version.pk for version in versions]}
    return client.post("/admin/evaluator/comparatorversion/", chosen, follow=True).content.decode()


def test_a_version_is_promoted_where_its_gate_passed_and_rolled_back_to(client, campaign):
    client.force_login(User.objects.get(username="alice"))
    first, second, third = (version(campaign, name, name != "third") for name in ("first", "second", "third"))
    assert "Comparator first is now in use in talk." in promote(client, first)
    promote(client, second)
    assert "This comparator did not pass the gate. It is not." in promote(client, third)
    assert registry.comparator_in_use(campaign) == second
    promote(client, first)
    assert registry.comparator_in_use(campaign) == first
    assert AuditEvent.objects.filter(action="comparator promoted", user__username="alice").count() == 3


def test_who_is_no_admin_promotes_nothing(client, campaign):
    client.force_login(User.objects.create_user("bob", may_create_campaigns=True))
    promote(client, version(campaign, "first", True))
    assert registry.comparator_in_use(campaign) is None
