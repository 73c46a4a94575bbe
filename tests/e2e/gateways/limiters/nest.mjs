// Thirty requests in six seconds, by a limit of NestJS that has a name:
// `nest.mjs PORT UPSTREAM`.
import "reflect-metadata";
import { Module, RequestMethod } from "@nestjs/common";
import { APP_GUARD, NestFactory } from "@nestjs/core";
import { ThrottlerGuard, ThrottlerModule } from "@nestjs/throttler";
import { Controller, Post, Req, Res } from "@nestjs/common";

const [port, upstream] = process.argv.slice(2);

class Forward {
  async forward(request, response) {
    const answer = await fetch(upstream + request.path, {
      method: "POST",
      body: JSON.stringify(request.body),
      headers: {
        authorization: request.headers.authorization,
        "content-type": "application/json",
      },
    });
    response.status(answer.status).type("json").send(await answer.text());
  }
}
// Node.js has no decorators.
const method = Object.getOwnPropertyDescriptor(Forward.prototype, "forward");
Req()(Forward.prototype, "forward", 0);
Res()(Forward.prototype, "forward", 1);
Post("*path")(Forward.prototype, "forward", method);
Controller()(Forward);

class Application {}
Module({
  imports: [ThrottlerModule.forRoot([{ name: "long", ttl: 6000, limit: 30 }])],
  controllers: [Forward],
  providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
})(Application);

const app = await NestFactory.create(Application, { logger: ["error"] });
await app.listen(Number(port), "127.0.0.1");
