SELECT weir_queue.tag_id($1)
