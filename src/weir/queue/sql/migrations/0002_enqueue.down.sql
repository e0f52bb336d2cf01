DROP FUNCTION weir_queue.enqueue(text, jsonb, text, text, integer, timestamptz, integer, integer,
                                 integer, text, text[]);
DROP FUNCTION weir_queue.wake(integer), weir_queue.tenant_id(text), weir_queue.tag_id(text);
ALTER TABLE weir_queue.tag DROP COLUMN parked;
