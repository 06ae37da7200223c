-- Where nothing is counted, what there is goes when it was said to, even if the rule is slower now.
if from and (retry > 0 or not is_check) then
  retry, reset = math.min(retry, expires - now), math.min(reset, expires - now)
end
-- One write, so that nothing can fail after it. The key goes a millisecond late, never early.
if is_check and (retry == 0 or was_set_back) then
  call('PSETEX', key, math.ceil(reset / 1000) + 1,
    format('%s%.0f %.0f %.0f %.0f ', FORM, time, ahead, now + reset, first) .. rest .. last)
end
return {count, retry, reset}
