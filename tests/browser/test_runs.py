"""The pages of runs in a browser: on a phone, and while a training reports."""

from django.utils import timezone

from leaderboard.models import RunCheckpoint, RunOutput
from leaderboard.runs import curve, registry
from tests.browser.axe import assert_axe_clean
from tests.browser.conftest import sign_in


def judged(run, step: int, utility: float) -> None:
    """What the worker keeps of a checkpoint, whose outputs all get one utility."""
    n = len(run.contexts)
    kept = {"judged_at": timezone.now(), "utilities": [utility] * n, "lengths": [9] * n, "degenerate": 0.0}
    checkpoint = RunCheckpoint.objects.create(run=run, step=step, digest="a" * 64, validation_loss=3 - utility, **kept)
    RunOutput.objects.bulk_create(RunOutput(checkpoint=checkpoint, context_id=pk, text=f"At {step}") for pk in run.contexts)
    curve.keep_verdict(run)


def test_a_run_is_read_on_a_phone_and_grows_while_it_trains(open_page, scores):
    run = registry.open_run(scores.campaign, "lstm-3e-4", judge="rouge-1", total_steps=600).run
    for n in range(3):
        judged(run, 100 * (n + 1), n / 10)
    page = open_page(viewport={"width": 390, "height": 800})
    sign_in(page, "alice")
    page.goto("/c/talk/runs/")
    assert_axe_clean(page)
    page.get_by_role("link", name="lstm-3e-4").click()
    page.get_by_text("At step 300 of 600, after 3 checkpoints").wait_for()
    assert page.get_by_role("img").count() == 3
    assert_axe_clean(page)
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
    judged(run, 400, 0.3)
    page.get_by_text("At step 400 of 600, after 4 checkpoints").wait_for()  # nobody loaded the page anew
    page.get_by_label("The other step").select_option("100")
    page.get_by_role("button", name="Show").click()
    page.get_by_text("At 100").first.wait_for()
    page.get_by_role("button", name="Let step 100 play on the board").click()
    page.get_by_text("Step 100 plays as lstm-3e-4.").wait_for()
