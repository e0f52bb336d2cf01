-- $1, $2: sessions, and for how many milliseconds each. One that has ended is not returned.
UPDATE weir_queue.session SET lease_until = now() + renewed.lease_ms * interval '1 millisecond'
FROM unnest($1::bigint[], $2::integer[]) AS renewed (id, lease_ms)
WHERE session.id = renewed.id AND session.ended_at IS NULL
RETURNING session.id
