"""Whether a document is to be believed today: its status and its interval."""

from dataclasses import dataclass

from variorum.access.dates import ALWAYS, Interval, iso_of
from variorum.access.policy import Authority


@dataclass(frozen=True, slots=True)
class Standing:
    """What the policy says of a document's authority, and when it is in force."""

    authority: Authority | None = None
    interval: Interval = ALWAYS

    def word(self, now_us: int) -> str:
        """`draft`, `superseded` or `withdrawn` as the policy says; else by the date of now:
        `future`, `expired` or `current`.
        """
        if self.authority and self.authority.status != "current":
            return self.authority.status
        start, end = self.interval.start_us, self.interval.end_us
        if start is not None and now_us < start:
            return "future"
        return "expired" if end is not None and now_us >= end else "current"

    def as_fields(self, now_us: int) -> dict[str, str | None]:
        """The standing as JSON fields."""
        authority = self.authority
        return {
            "standing": self.word(now_us),
            "status": authority.status if authority else None,
            "status_by": authority.by if authority else None,
            "status_at": authority.at if authority else None,
            "effective_from": iso_of(self.interval.start_us),
            "effective_until": iso_of(self.interval.end_us),
        }
