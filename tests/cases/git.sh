#!/bin/sh
echo "fatal: detected dubious ownership in repository at '$2'
To add an exception for this directory, call:

	git config --global --add safe.directory $2" >&2
exit 128
