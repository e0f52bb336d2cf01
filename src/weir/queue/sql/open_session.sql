-- $1..$6: role, name, version, tags, slots, milliseconds of its lease.
INSERT INTO weir_queue.session (role, name, version, tags, slots, lease_until)
VALUES ($1, $2, $3, $4, $5, now() + $6::integer * interval '1 millisecond')
RETURNING id
