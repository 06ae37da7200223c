// @n8n-evol-I:primitive
const seen = $('Parse + Verify Ownership').first().json;

return [
  {
    json: {
      released: true,
      idempotent: seen.already_released,
      scope: seen.scope,
      lock_id: seen.provided_lock_id,
    },
  },
];
