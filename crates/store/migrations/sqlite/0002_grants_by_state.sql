-- The list of all grants: those that hold, or those that were taken back, newest first.

CREATE INDEX grants_by_state ON grants (revoked, grant_id);
