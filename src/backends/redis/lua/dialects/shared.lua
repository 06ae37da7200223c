-- What the dialects and the mirror share.
local wanted_spec = nil
-- What their key says: owner, how often it entered, and what is left of its ttl in ms, below zero
-- for ever. `leaving` if they have taken one of two keys away and not yet the other; `is_anyones` if
-- its ttl may be the work of somebody who lost; `began_anew` if it is not ours although it looks so.
-- Where it is known, `words` (metadata) and `since`.
local foreign = nil
-- How often strangers entered.
local strangers = 0
-- What the state said after it had learned of that.
local synced_expiry, synced_count = nil, 0
-- Gives whoever is leaving little time to do so.
local hurry = nil
-- Sets back what somebody who lost did to a key of ours.
local settle = nil

-- Fails as it should where the key is a hash of another sort.
local function mismatch(key) call('GET', key) end
