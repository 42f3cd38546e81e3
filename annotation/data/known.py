"""Rows with a `purpose`: gold, training and qualification items with their expected answers."""

from annotation.campaigns.items import KnownAnswer
from annotation.campaigns.known_answers import KNOWN, check_expected, store_known
from annotation.data.corpus import Imported
from annotation.models import Campaign, Output, Purpose
from core.errors import Refused
from core.rowfiles import BadField, Row, shown


class KnownRows:
    """The known answers of a file. criteria: the campaign's, by name."""

    def __init__(self, criteria: dict):
        self.criteria = criteria
        self.rows: list[tuple[str, KnownAnswer]] = []

    def take(self, row: Row, output: Output, other: Output | None = None) -> bool:
        """Gather the row's known answer. False where the row has none and is what the file's other rows are."""
        purpose = row.get("purpose")
        if purpose in (None, "", Purpose.EVALUATION):
            if row.get("expected") is not None:
                raise BadField("purpose", "is missing, and expected is given; say gold, training or qualification")
            return False
        if purpose not in KNOWN:
            raise BadField("purpose", f"expected gold, training, qualification or evaluation, found {shown(purpose)}")
        try:
            expected = check_expected(row.mapping("expected"), self.criteria, is_pair=other is not None)
        except Refused as refused:
            raise BadField("expected", str(refused)) from None
        self.rows.append((purpose, KnownAnswer(output, expected, other)))
        return True

    def store(self, campaign: Campaign, result: Imported) -> None:
        """The answers that are not there already. Raises Refused where people answered one as part of the evaluation."""
        new = store_known(campaign, self.rows)
        result.new.pop("known answers", None)
        if new:
            result.add("known answers", new)
