"""Games between players: the referee, its sandbox, whole games in compiled code, openings, transcripts."""
