/* global exports, require */
/** Medusa acts on a webhook 5 seconds after it came, and its payment module does not pass on the option of another delay. */
const { Modules } = require('@medusajs/framework/utils');

exports.default = {
  routes: [
    {
      matcher: '/hooks/payment/*',
      middlewares: [
        (request, _response, next) => {
          request.scope.resolve(Modules.PAYMENT).options = { webhook_delay: 500 };
          next();
        },
      ],
    },
  ],
};
