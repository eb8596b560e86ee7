-- Index for the list of valid grants or of revoked grants, newest first.

CREATE INDEX grants_by_state ON grants (revoked, grant_id);
