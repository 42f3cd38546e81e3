"""Who may send what to which URL. Whatever does not stand here nobody may: a new URL has to be entered.

A line is a route and its methods, under those who may. One route can stand under several. What tokens may follows from the
audience by their scopes; pages know no tokens.
"""

from annotation.models import Scope

SESSIONS = ["annotator", "other annotator", "researcher", "other researcher", "admin"]
EVERYBODY = ["anonymous", *SESSIONS]
AUDIENCES = {
    "everybody": EVERYBODY,
    "signed in": SESSIONS,
    "taking part": ["annotator", "researcher", "admin"],
    "annotators": ["annotator"],
    "researchers": ["researcher", "admin"],
    "admins": ["admin"],
    "not staff": [role for role in SESSIONS if role != "admin"],  # they are led from page to page and arrive nowhere
    "nobody": [],
}
TABLE = """
everybody: With or without an account.
    / GET POST
    boards/ GET POST
    healthz GET POST
    join/<token>/ GET POST
    language/ GET POST
    login/ GET POST
    logout/ POST
    readyz GET POST
    resume/<token>/ GET POST
    api/ GET
    api/join/<token>/ POST
    api/schema/ GET
signed in: Whoever has an account; lists show only what is their own.
    account/ GET POST
    account/second-factor/ GET POST
    leave/ GET POST
    login/code/ GET POST
    password/ GET POST
    password/done/ GET
    api/campaigns/ GET
    api/tasks/ GET
taking part: Those who annotate the campaign, and those who research it.
    c/<slug>/ GET POST
    c/<slug>/guidelines/ GET
    c/<slug>/images/<name> GET
annotators: Those who annotate the campaign: each their own answers.
    account/tokens/<pk>/revoke/ POST
    c/<slug>/annotate/ GET POST
    c/<slug>/answers/ GET POST
    c/<slug>/answers/<pk>/ GET POST
    c/<slug>/consent/ GET POST
    c/<slug>/elsewhere/ GET POST
    c/<slug>/feedback/<key>/ GET POST
    c/<slug>/ask/ POST
    c/<slug>/flag/ POST
    c/<slug>/skip/ POST
    c/<slug>/undo/ POST
    c/<slug>/withdraw/ GET POST
    api/tasks/<slug>/ GET
    api/tasks/<slug>/consent/ POST
    api/tasks/<slug>/ask/ POST
    api/tasks/<slug>/flag/ POST
    api/tasks/<slug>/reports/ GET
    api/tasks/<slug>/judgments/ GET POST
    api/tasks/<slug>/next/ POST
    api/tasks/<slug>/revise/ POST
    api/tasks/<slug>/skip/ POST
    api/tasks/<slug>/undo/ POST
    api/tasks/<slug>/withdraw/ POST
researchers: Those who research the campaign, and admins.
    c/<slug>/comparator/ GET POST
    c/<slug>/comparator/<name>/ GET POST
    c/<slug>/comparator/<name>/download/ GET POST
    c/<slug>/comparator/<name>/promote/ POST
    c/<slug>/comparator/<name>/retire/ POST
    c/<slug>/comparator/dialogues/ POST
    c/<slug>/comparator/judges/ GET POST
    c/<slug>/comparator/retraining/ POST
    c/<slug>/comparator/upload/ POST
    c/<slug>/decisions/<pk>/overrule/ POST
    c/<slug>/delete/ POST
    c/<slug>/design/ GET POST
    c/<slug>/design/markdown/ POST
    c/<slug>/export/ GET POST
    c/<slug>/export/<what>.<format> GET POST
    c/<slug>/export/archive/ POST
    c/<slug>/guidelines/ POST
    c/<slug>/images/ POST
    c/<slug>/import/ GET POST
    c/<slug>/import/<pk>/ GET POST
    c/<slug>/import/<pk>/discard/ POST
    c/<slug>/import/<pk>/store/ POST
    c/<slug>/items/ GET POST
    c/<slug>/items/<pk>/ GET POST
    c/<slug>/items/<pk>/unmark/ POST
    c/<slug>/leaderboard/ GET POST
    c/<slug>/leaderboard/ask/ POST
    c/<slug>/leaderboard/beside/ GET POST
    c/<slug>/leaderboard/breakdown/ GET POST
    c/<slug>/leaderboard/history/ GET POST
    c/<slug>/leaderboard/play/ GET POST
    c/<slug>/leaderboard/samples/ GET POST
    c/<slug>/leaderboard/samples/<pk>/ GET POST
    c/<slug>/leaderboard/settings/ POST
    c/<slug>/people/ GET POST
    c/<slug>/people/annotators/<pk>/release/ POST
    c/<slug>/people/annotators/<pk>/returned/ POST
    c/<slug>/people/links/<pk>/revoke/ POST
    c/<slug>/people/researchers/<pk>/remove/ POST
    c/<slug>/plan/ GET POST
    c/<slug>/preview/ GET POST
    c/<slug>/progress/ GET POST
    c/<slug>/progress/answers/ GET POST
    c/<slug>/quality/ GET POST
    c/<slug>/quality/annotators/ GET POST
    c/<slug>/quality/asks/ POST
    c/<slug>/quality/datasheet/ GET POST
    c/<slug>/quality/disagreement/ GET POST
    c/<slug>/quality/disagreement/settle/ POST
    c/<slug>/quality/groups/ POST
    c/<slug>/quality/preview/ GET POST
    c/<slug>/quality/report.<format> GET POST
    c/<slug>/quality/report/ GET POST
    c/<slug>/quality/study/ GET POST
    c/<slug>/reports/<pk>/reply/ POST
    c/<slug>/reports/<pk>/resolve/ POST
    c/<slug>/runs/ GET POST
    c/<slug>/runs/<name>/ GET POST
    c/<slug>/runs/<name>/choose/ POST
    c/<slug>/runs/<name>/close/ POST
    c/<slug>/runs/<name>/csv/ GET POST
    c/<slug>/snapshots/<digest>.jsonl GET POST
    c/<slug>/snapshots/<digest>/ GET POST
    c/<slug>/snapshots/<digest>/<what>.<format> GET POST
    c/<slug>/snapshots/<digest>/difference/ GET POST
    c/<slug>/snapshots/<digest>/published/ GET POST
    c/<slug>/status/ POST
    c/<slug>/systems/ GET POST
    c/<slug>/systems/<pk>/ GET POST
    c/<slug>/systems/<pk>/describe/ POST
    c/<slug>/systems/<pk>/outputs/ POST
    c/<slug>/systems/<pk>/retire/ POST
    jobs/<pk>/ GET POST
    jobs/<pk>/cancel/ POST
    jobs/<pk>/retry/ POST
    tournaments/<pk>.<format> GET POST
    tournaments/<pk>/ GET POST
    api/campaigns/<slug>/ GET PATCH DELETE
    api/campaigns/<slug>/accounts/ POST
    api/campaigns/<slug>/annotators/ GET
    api/campaigns/<slug>/annotators/<name>/release/ POST
    api/campaigns/<slug>/annotators/<name>/returned/ POST
    api/campaigns/<slug>/archive/ GET POST
    api/campaigns/<slug>/ask/ POST
    api/campaigns/<slug>/comparators/ GET
    api/campaigns/<slug>/comparators/<name>/ GET
    api/campaigns/<slug>/comparators/<name>/file/ GET
    api/campaigns/<slug>/comparators/<name>/promote/ POST
    api/campaigns/<slug>/comparators/<name>/retire/ POST
    api/campaigns/<slug>/comparators/upload/ POST
    api/campaigns/<slug>/contexts/ GET
    api/campaigns/<slug>/export/<what>/<kind>/ GET
    api/campaigns/<slug>/images/ GET POST
    api/campaigns/<slug>/import/<what>/ POST
    api/campaigns/<slug>/import/dialogues/ POST
    api/campaigns/<slug>/import/judge-scores/ POST
    api/campaigns/<slug>/invitations/ GET POST
    api/campaigns/<slug>/invitations/<pk>/ DELETE
    api/campaigns/<slug>/items/ GET
    api/campaigns/<slug>/items/<pk>/ GET
    api/campaigns/<slug>/items/<pk>/known/ PUT DELETE
    api/campaigns/<slug>/jobs/ GET
    api/campaigns/<slug>/judges/ GET POST
    api/campaigns/<slug>/judges/again/ GET POST PUT
    api/campaigns/<slug>/judges/juries/ POST
    api/campaigns/<slug>/judges/costs/ GET
    api/campaigns/<slug>/judges/models/ GET POST
    api/campaigns/<slug>/leaderboard/ GET
    api/campaigns/<slug>/plan/ GET
    api/campaigns/<slug>/quality/ GET
    api/campaigns/<slug>/quality/annotators/ GET
    api/campaigns/<slug>/quality/asks/ GET POST
    api/campaigns/<slug>/quality/datasheet/ GET PATCH
    api/campaigns/<slug>/quality/disagreement/ GET POST
    api/campaigns/<slug>/quality/groups/ POST
    api/campaigns/<slug>/quality/report/<kind>/ GET
    api/campaigns/<slug>/quality/study/ GET POST
    api/campaigns/<slug>/reports/ GET
    api/campaigns/<slug>/reports/<pk>/reply/ POST
    api/campaigns/<slug>/reports/<pk>/resolve/ POST
    api/campaigns/<slug>/researchers/ GET POST
    api/campaigns/<slug>/researchers/<pk>/ DELETE
    api/campaigns/<slug>/retraining/ GET PUT
    api/campaigns/<slug>/runs/ GET POST
    api/campaigns/<slug>/runs/compare/ GET
    api/campaigns/<slug>/runs/<name>/ GET
    api/campaigns/<slug>/runs/<name>/checkpoints/ POST
    api/campaigns/<slug>/runs/<name>/choose/ POST
    api/campaigns/<slug>/runs/<name>/close/ POST
    api/campaigns/<slug>/runs/<name>/csv/ GET
    api/campaigns/<slug>/snapshots/ GET POST
    api/campaigns/<slug>/snapshots/<digest>/ GET
    api/campaigns/<slug>/snapshots/<digest>/content/ GET
    api/campaigns/<slug>/snapshots/<digest>/export/<what>/<kind>/ GET
    api/campaigns/<slug>/snapshots/<digest>/overrule/ POST
    api/campaigns/<slug>/snapshots/<digest>/published/ GET
    api/campaigns/<slug>/snapshots/<digest>/since/<old>/ GET
    api/campaigns/<slug>/status/ PUT
    api/campaigns/<slug>/systems/ GET POST
    api/campaigns/<slug>/systems/<pk>/ GET PATCH
    api/campaigns/<slug>/systems/<pk>/outputs/ PUT
    api/campaigns/<slug>/tournaments/ GET POST
    api/campaigns/<slug>/trainings/ GET POST
    api/jobs/<pk>/ GET
    api/jobs/<pk>/cancel/ POST
    api/jobs/<pk>/retry/ POST
    api/tournaments/<pk>/ GET
    api/tournaments/<pk>/file/<kind>/ GET
admins: Admins; creating campaigns is also for those who may.
    audit/ GET POST
    backups/ GET POST
    c/<slug>/duplicate/ POST
    endpoints/ GET POST
    jobs/ GET POST
    new/ GET POST
    new/archive/ GET POST
    metrics GET
    people/ GET POST
    people/<pk>/ GET POST
    status/ GET POST
    api/archives/ POST
    api/campaigns/ POST
    api/campaigns/<slug>/duplicate/ POST
nobody: What this world has nothing for: the first admin is made; there is no table of judges, public board or archive.
    hooks/prolific/
    c/<slug>/export/archive/file/
    c/<slug>/comparator/judges/<key>/
    c/<slug>/comparator/judges/<key>/again/
    c/<slug>/comparator/judges/table.<kind>
    api/campaigns/<slug>/judges/table/<kind>/
    c/<slug>/leaderboard/embed/
    first/
    password/reset/
    password/reset/<uidb64>/<token>/
    password/reset/done/
    password/reset/sent/
    api/<rest>
"""

# Models of the admin site, and what admins may do with them there besides looking.
ADMIN_SITE = {
    "annotation/user": "add change",
    "annotation/campaign": "add change",
    "annotation/annotator": "add change",
    "annotation/invitation": "add change",
    "annotation/system": "add change",
    "annotation/submission": "",
    "annotation/likertscore": "",
    "annotation/pairwisejudgment": "",
    "annotation/snapshot": "",
    "annotation/qualitydecision": "",
    "annotation/job": "",
    "annotation/auditevent": "",
    "annotation/workerpulse": "",
    "evaluator/retrainingrule": "",
    "evaluator/trainingrun": "",
    "evaluator/comparatorversion": "",
    "leaderboard/tournament": "",
}
ADMIN_PAGES = """
admins:
    admin/ GET POST
    admin/<app_label>/ GET POST
    admin/annotation/user/<id>/password/ GET POST
    admin/jsi18n/ GET
    admin/login/ GET POST
    admin/password_change/ GET POST
    admin/password_change/done/ GET
signed in:
    admin/logout/ POST
not staff:
    admin/logout/ GET
nobody:
    admin/<url>
    admin/autocomplete/
    admin/r/<content_type_id>/<object_id>/
"""

# What everybody may read once a campaign's boards are public.
PUBLIC_BOARD = [
    "c/<slug>/leaderboard/",
    "c/<slug>/leaderboard/beside/",
    "c/<slug>/leaderboard/breakdown/",
    "c/<slug>/leaderboard/embed/",
    "c/<slug>/leaderboard/history/",
    "c/<slug>/systems/<pk>/",
    "tournaments/<pk>/",
    "tournaments/<pk>.<format>",
    "api/campaigns/<slug>/leaderboard/",
    "api/tournaments/<pk>/",
    "api/tournaments/<pk>/file/<kind>/",
]


def expectations() -> dict[str, dict[str, set[str]]]:
    """{route: {method: roles that may}}; a route without a method is known, and closed to all."""
    found: dict[str, dict[str, set[str]]] = {}
    for text in (TABLE, ADMIN_PAGES, *map(_model_pages, ADMIN_SITE)):
        for line in text.strip().splitlines():
            if not line.startswith(" "):
                audience = line.partition(":")[0]
                continue
            route, *methods = line.split()
            route = route.removeprefix("/")
            for method in methods:
                found.setdefault(route, {}).setdefault(method, set()).update(_roles(route, method, audience))
            found.setdefault(route, {})
    return found


def _model_pages(model: str) -> str:
    may = ADMIN_SITE[model].split()
    pages = {
        "": "GET POST",
        "<object_id>/": "GET POST",
        "<object_id>/history/": "GET POST",
        "<object_id>/change/": "GET POST" if "change" in may else "GET",
        "add/": "GET POST" if "add" in may else "",
        "<object_id>/delete/": "",
    }
    return "admins:\n" + "".join(f"    admin/{model}/{page} {methods}\n" for page, methods in pages.items())


def _roles(route: str, method: str, audience: str) -> set[str]:
    roles = set(AUDIENCES[audience])
    if not route.startswith("api/"):  # a token is nobody there
        return roles | (TOKENS if "anonymous" in roles else set())
    if route in ("api/", "api/schema/"):
        return roles | TOKENS
    scope = Scope.ANNOTATE if route.startswith(("api/tasks/", "api/join/")) else Scope.RESEARCH
    scopes = {scope, Scope.ADMIN} | ({Scope.READ} if method == "GET" else set())
    return roles | {f"{one} token" for one in scopes if roles}


TOKENS = {f"{scope} token" for scope in Scope}
