from annotation.models import Invitation, User
from core.commands import ServiceCommand
from core.sealed import seal_anew


class Command(ServiceCommand):
    help = "Seal under the present SECRET_KEY what was sealed under one of SECRET_KEY_FALLBACKS; these can then be dropped."

    def run(self, **options):
        factors = _reseal(User.objects.exclude(totp_secret=""), "totp_secret")
        links = _reseal(Invitation.objects.all(), "sealed_token")
        return {"second factors": factors, "invitation links": links}


def _reseal(rows, field: str) -> dict[str, int]:
    """Each row alone, and only where nobody changed it meanwhile."""
    done = {"sealed": 0, "cannot be read": 0}
    for pk, before in rows.values_list("pk", field).iterator():
        after = seal_anew(before)
        if after is None:
            done["cannot be read"] += 1
        else:
            done["sealed"] += rows.model.objects.filter(pk=pk, **{field: before}).update(**{field: after})
    return done
