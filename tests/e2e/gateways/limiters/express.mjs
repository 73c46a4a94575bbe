// Thirty requests in six seconds, by express-rate-limit: `express.mjs PORT UPSTREAM`.
import express from "express";
import { rateLimit } from "express-rate-limit";

const [port, upstream] = process.argv.slice(2);
const app = express();
app.use(rateLimit({ windowMs: 6000, limit: 30, standardHeaders: "draft-8" }));
app.use(express.raw({ type: () => true, limit: "1mb" }));
app.post(/.*/, async (request, response) => {
  const answer = await fetch(upstream + request.path, {
    method: "POST",
    body: request.body,
    headers: {
      authorization: request.headers.authorization,
      "content-type": "application/json",
    },
  });
  response.status(answer.status).type("json").send(await answer.text());
});
app.listen(Number(port), "127.0.0.1");
