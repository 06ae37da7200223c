-- Holdfast's own layout: the state is the lock, and nobody else writes it.
local theirs, read, sync, mirror = nil, nil, nil, nil
local wanted_spec = nil
local function is_foreign() return false end
