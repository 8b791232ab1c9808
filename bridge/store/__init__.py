"""The record: one SQLite file under the home folder, behind one redaction boundary."""
