// @n8n-evol-I:primitive
const input = $input.first().json;

const whole = (name, value, most) => {
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new Error(`${name} must be a whole number from 1 to ${most}, not ${value}`);
};

const scope = String(input.scope || 'default');
const limit = whole('limit', typeof input.limit === 'number' ? input.limit : 10, 1000000000);
// A window of 0 would have one bucket for ever, which never expires.
const windowSeconds = whole(
  'windowSeconds',
  typeof input.windowSeconds === 'number' ? input.windowSeconds : 60,
  315360000,
);
const bucket = Math.floor(Date.now() / (windowSeconds * 1000));

return [{ json: { scope, limit, windowSeconds, key: `n8n-ratelimit-${scope}-${bucket}` } }];
