"""What is aimed at, and where an alert is due. The defaults are those of the failure pattern."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Ratios are 0 to 1. Targets are shown; alert lines raise alerts.

    A document is frequently updated from `frequent_updates` a year on. The waste of an update
    counts where it is over `waste_alert`; an update counts as costing as much as an ingest where it
    is over `update_alert` though at most `small_edit` of the document's tokens had to change.
    `churn_factor`: annual cost over one-time cost. A gap persists where `gap_updates` updates in a
    row each embedded `gap_factor` times the inputs that changed, or more. Updates of the last
    `window_days` are looked at.
    """

    waste_target: float = 0.20
    waste_alert: float = 0.70
    update_target: float = 0.15
    update_alert: float = 0.80
    small_edit: float = 0.20
    coverage_target: float = 1.0
    coverage_alert: float = 0.50
    frequent_updates: int = 12
    churn_factor: float = 10.0
    gap_updates: int = 5
    gap_factor: float = 3.0
    window_days: int = 30


DEFAULTS = Thresholds()
