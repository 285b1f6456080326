"""Claims of the page `fig04_histogram` about the stored results."""

from attention_phases.histogram import TRAIN_SHARE
from claims import each_holds

CLAIMS = {
    r"We train the network on 70 % of the sequences and test it on 30 %": lambda: TRAIN_SHARE == 0.7,
}
test_claims = each_holds("fig04_histogram", CLAIMS)
