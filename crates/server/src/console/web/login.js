// Exchanges the ticket in the fragment of the address for a cookie, before anything else sees the address.

/**
 * Logs in if the address has a ticket.
 * @returns {Promise<"none" | "done" | "refused" | "failed">}
 */
export async function logIn() {
  const ticket = new URLSearchParams(location.hash.slice(1)).get("login");
  if (!ticket) return "none";
  // neither the history nor a copied address keeps it
  history.replaceState(null, "", location.pathname);
  try {
    const answer = await fetch("/console/login", {
      method: "POST",
      headers: { "Content-Type": "application/musher-ticket" },
      body: ticket,
      cache: "no-store",
    });
    return answer.ok ? "done" : "refused";
  } catch {
    return "failed";
  }
}
