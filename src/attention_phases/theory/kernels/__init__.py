"""The compiled inner problem of the state evolution: one kernel for the standard student, one for every other."""
