// @n8n-evol-I:primitive
const asked = $('Build Bucket Key').first().json;
const answer = Number($input.first().json[asked.key]);
if (!Number.isFinite(answer)) throw new Error('Redis INCR gave no number');

return [
  {
    json: {
      allowed: answer <= asked.limit,
      scope: asked.scope,
      count: answer,
      limit: asked.limit,
    },
  },
];
