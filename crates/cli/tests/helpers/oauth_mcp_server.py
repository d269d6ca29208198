"""An MCP server that requires OAuth, with its authorization server, both from the `mcp` package of PyPI.

Usage: oauth_mcp_server.py PORT. Prints `ready` on stdout once it listens on 127.0.0.1:PORT. The user of its login page approves at
once. Its state can be changed from outside: GET /test/expire makes every access token invalid, GET /test/revoke also every refresh
token, GET /test/deny lets the user deny later logins, GET /test/counts returns how many clients, codes and refreshes there were.
"""

import asyncio
import secrets
import sys
import time

import uvicorn
from mcp.server.auth.provider import AccessToken, AuthorizationCode, AuthorizeError, RefreshToken, construct_redirect_uri
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.server.fastmcp import FastMCP
from mcp.shared.auth import OAuthToken
from starlette.responses import JSONResponse

PORT = int(sys.argv[1])
BASE = f"http://127.0.0.1:{PORT}"
RESOURCE = f"{BASE}/mcp"


class Provider:
    def __init__(self):
        self.clients, self.codes, self.access, self.refresh = {}, {}, {}, {}
        self.denies = False
        self.counts = {"clients": 0, "codes": 0, "refreshes": 0, "revocations": 0}

    async def get_client(self, client_id):
        return self.clients.get(client_id)

    async def register_client(self, client):
        self.clients[client.client_id] = client
        self.counts["clients"] += 1

    async def authorize(self, client, params):
        if self.denies:
            raise AuthorizeError("access_denied", "the user said no")
        if params.resource != RESOURCE:
            raise AuthorizeError("invalid_request", f"expected the resource {RESOURCE}")
        code = AuthorizationCode(
            code=secrets.token_urlsafe(32),
            scopes=params.scopes or ["tools"],
            expires_at=time.time() + 300,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        self.codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    async def load_authorization_code(self, client, code):
        return self.codes.get(code)

    def tokens(self, client, scopes):
        access, refresh = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self.access[access] = AccessToken(
            token=access, client_id=client.client_id, scopes=scopes, expires_at=int(time.time()) + 3600, resource=RESOURCE
        )
        self.refresh[refresh] = RefreshToken(token=refresh, client_id=client.client_id, scopes=scopes)
        scope = " ".join(scopes)
        return OAuthToken(access_token=access, token_type="Bearer", expires_in=3600, scope=scope, refresh_token=refresh)

    async def exchange_authorization_code(self, client, code):
        del self.codes[code.code]
        self.counts["codes"] += 1
        return self.tokens(client, code.scopes)

    async def load_refresh_token(self, client, refresh):
        return self.refresh.get(refresh)

    async def exchange_refresh_token(self, client, refresh, scopes):
        del self.refresh[refresh.token]
        self.counts["refreshes"] += 1
        return self.tokens(client, scopes)

    async def load_access_token(self, token):
        return self.access.get(token)

    async def revoke_token(self, token):
        self.access.pop(token.token, None)
        self.refresh.pop(token.token, None)
        self.counts["revocations"] += 1


provider = Provider()
server = FastMCP(
    "private",
    host="127.0.0.1",
    port=PORT,
    auth_server_provider=provider,
    auth=AuthSettings(
        issuer_url=BASE,
        resource_server_url=RESOURCE,
        required_scopes=["tools"],
        validate_token_resource=True,
        client_registration_options=ClientRegistrationOptions(enabled=True, valid_scopes=["tools"], default_scopes=["tools"]),
        revocation_options=RevocationOptions(enabled=True),
    ),
)


@server.tool()
def secret() -> str:
    """Returns the secret of the server."""
    return "the secret is 4711"


@server.custom_route("/test/{what}", methods=["GET"])
async def test(request):
    what = request.path_params["what"]
    if what in ("expire", "revoke"):
        provider.access.clear()
    if what == "revoke":
        provider.refresh.clear()
    if what == "deny":
        provider.denies = True
    return JSONResponse(provider.counts)


async def main():
    config = uvicorn.Config(server.streamable_http_app(), host="127.0.0.1", port=PORT, log_level="warning")
    served = uvicorn.Server(config)
    task = asyncio.create_task(served.serve())
    while not served.started and not task.done():
        await asyncio.sleep(0.02)
    print("ready", flush=True)
    await task


asyncio.run(main())
