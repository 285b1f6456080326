"""The compiled inner problem of the state evolution: one kernel for the standard student and one for all others."""
