-- What the dialects and the mirror share.
local wanted_spec = nil
-- What their key says: owner, how often it entered, and what is left of its ttl in ms, below zero
-- for ever. `leaving` if they have taken one of two keys away and not yet the other; `is_anyones` if
-- its ttl may be the work of somebody who lost; `began_anew` if it is not ours although it looks so.
-- Where it is known, `words` (metadata) and `since`. `is_stale` if what lies beside the key does not
-- say the same.
local foreign = nil
-- Without their key there is something left that lay beside it.
local has_remains = false
-- A key without a ttl.
local FOR_EVER_US = 86400000000
-- How often strangers entered.
local strangers = 0
-- What the state said after it had learned of that.
local synced_expiry, synced_count = nil, 0
-- Gives whoever is leaving little time to do so.
local hurry = nil
-- Sets back what somebody who lost did to a key of ours.
local settle = nil

-- Text as our own names are: UTF-8 of 256 bytes at most, no control characters, no line separators.
local SEQUENCES = {'[\194-\223][\128-\191]', '\224[\160-\191][\128-\191]',
  '[\225-\236\238\239][\128-\191][\128-\191]', '\237[\128-\159][\128-\191]',
  '\240[\144-\191][\128-\191][\128-\191]', '[\241-\243][\128-\191][\128-\191][\128-\191]',
  '\244[\128-\143][\128-\191][\128-\191]'}
local function is_text(word)
  if #word > 256 or string.find(word, '[%z\1-\31\127]') then return false end
  if not string.find(word, '[\128-\255]') then return true end
  if string.find(word, '\194[\128-\159]') or string.find(word, '\226\128[\168\169]') then
    return false
  end
  for _, sequence in ipairs(SEQUENCES) do word = string.gsub(word, sequence, ' ') end
  return not string.find(word, '[\128-\255]')
end

-- Fails as it should where the key is a hash of another sort.
local function mismatch(key) call('GET', key) end
