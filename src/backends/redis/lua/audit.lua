-- What happened to whom, beside the lock, if the store was opened with audit=N. Strangers of a
-- dialect have no fence and are left out.
local function note(what, id, hold)
  if not AUDIT or hold.fence == 0 then return end
  call('XADD', KEYS[#KEYS], 'MAXLEN', '~', AUDIT, '*', 'event', what, 'fence', digits(hold.fence),
    'permits', sub(hold.body, -37, -28), 'metadata', sub(hold.body, 1, -50))
  call('PEXPIRE', KEYS[#KEYS], AUDIT_MS)
end
