-- What the dialects and the mirror share.
local wanted_spec = nil
-- What their key says: owner and what is left of its ttl in ms, below zero for ever.
local foreign = nil
-- What the state said after it had learned of that.
local synced_expiry, synced_count = nil, 0

