"""Claims of the page `fig04_histogram` about the stored results."""

from attention_phases.histogram import TRAIN_SHARE
from claims import each_holds

CLAIMS = {
    r"70 % to train, 30 % to test": lambda: TRAIN_SHARE == 0.7,
}
test_claims = each_holds("fig04_histogram", CLAIMS)
