"""A language model's budget as a row: counted before a request is sent, for every worker alike."""

from django.db.models import F

from evaluator.judges.endpoint import BudgetSpent, Price
from evaluator.models import Judge


class RowMeter:
    """Counts a judge's requests and tokens in its row, however many workers let it play, and ends at its budget."""

    def __init__(self, judge: Judge, price: Price):
        self.judge, self.price = judge, price
        budget = judge.settings.get("budget", {})
        self.calls, self.money = budget.get("calls"), budget.get("money")

    def spend(self, longest: int, under_way: int) -> None:
        """One more request, counted before it is sent. Those under way may be as long and read as much as the mean so far; so
        may this one. Raises BudgetSpent."""
        row = Judge.objects.filter(pk=self.judge.pk)
        if self.money is not None:
            calls, read, written = row.values_list("calls", "tokens_read", "tokens_written").get()
            answered = max(calls - under_way, 1)
            if self.price.of(read + under_way * read // answered, written + (under_way + 1) * longest) > self.money:
                cost = self.price.of(read, written)
                raise BudgetSpent(
                    f"The budget of {self.money:g} for {self.judge.name} does not reach for another call; {cost:.4f} is spent."
                    " What was answered is kept: with a larger one it goes on."
                )
        allowed = row if self.calls is None else row.filter(calls__lt=self.calls)
        if not allowed.update(calls=F("calls") + 1):
            raise BudgetSpent(
                f"The budget of {self.calls} calls is spent. What was answered is kept: with a larger one it goes on."
            )

    def add(self, read: int, written: int) -> None:
        counted = {"tokens_read": F("tokens_read") + read, "tokens_written": F("tokens_written") + written}
        Judge.objects.filter(pk=self.judge.pk).update(**counted)
