// English texts for sign-in and the list of keys. They load together with their views, not with the first page.

export const app = {
  "keys.title": "Keys",
  "keys.next": "next or previous request in the inbox",
  "keys.open": "open the selected request",
  "keys.approve": "approve or continue",
  "keys.edit": "edit and approve",
  "keys.reject": "reject",
  "keys.text": "go to the first field of a form, or to the text box",
  "keys.more": "further options",
  "keys.digits": "choose an option, or an answer of a question",
  "keys.back": "back to the list; close a dialog",
  "keys.freeze": "freeze everything or a part",
  "keys.help": "list of keys",
  "keys.confirm": "Approving asks for confirmation if the risk is high, the request was edited, or parts of it were not shown. Rejecting never does.",
  "keys.advance": "Open the next request after a decision",
  "keys.letters": "Single-letter keys",
  "keys.letters.how": "If they are off, use Tab and Enter. The button in the header opens this list. This browser remembers the setting.",
  "keys.close": "Close",

  "login.title": "Sign in",
  "login.opening": "Signing in",
  "login.provider": "Sign in with {name}",
  "login.provider.out": "Also sign out of {name}",
  "login.how": "Ask the operator of this server for a sign-in link. On the server's machine, this command prints one:",
  "login.folder": "If the server uses `--data DIR`, add the same option here.",
};
