-- What the dialects and the mirror share.
local wanted_spec = nil
-- What their key says: owner, how often it entered, and what is left of its ttl in ms, below zero
-- for ever. `leaving` if they have taken one of two keys away and not yet the other.
local foreign = nil
-- How often strangers entered.
local strangers = 0
-- What the state said after it had learned of that.
local synced_expiry, synced_count = nil, 0
-- Gives whoever is leaving little time to do so.
local hurry = nil

-- Fails as it should where the key is a hash of another sort.
local function mismatch(key) call('GET', key) end

