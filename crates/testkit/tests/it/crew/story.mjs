// Acts as the source system's TypeScript client, review form and dashboard do (contract D9), in sequence, against a
// running server. Prints one line of JSON. Any unexpected response ends the script with an error.
import assert from "node:assert/strict"

const { CrewClient, ApiError } = await import(process.env.CLIENT)
const { HOLDSHORT_URL: url, HOLDSHORT_TOKEN: token, SERVICE_TOKEN: service, SINK: sink } = process.env

async function refused(call, status) {
  const error = await call.then(
    () => assert.fail("it was not refused"),
    (error) => error,
  )
  assert.ok(error instanceof ApiError, String(error))
  assert.equal(error.status, status, error.message)
  assert.equal(typeof error.message, "string")
  return error
}

for (const prefix of ["/api/v1", ""]) {
  const client = new CrewClient(url, token, prefix)
  const worker = new CrewClient(url, service, prefix)

  const crews = await client.listCrews()
  assert.ok(crews.crews.some((crew) => crew.name === "fraud"))
  assert.deepEqual((await client.getCrew("fraud")).tasks, ["translate", "analyse", "hunt", "check", "report"])
  // `/crew` lists only names. A crew can be started by each of them, so aliases are among them.
  const { crews: names, ...rest } = await client.call("GET", "/crew")
  assert.deepEqual(rest, {})
  assert.ok(names.every((name) => typeof name === "string") && new Set(names).size === names.length)
  const known = crews.crews.flatMap((crew) => [crew.name, ...crew.aliases])
  assert.deepEqual(names.toSorted(), known.toSorted())
  const { agents } = await client.listAgents()
  assert.ok(agents.length >= 5)
  assert.equal((await client.listAgents("fraud")).agents.length, 5)
  assert.ok(agents.every((agent) => agent.id && agent.role && typeof agent.goal === "string" && Array.isArray(agent.tools)))
  assert.ok(crews.crews.every((crew) => crew.process_type && Array.isArray(crew.agents)))
  assert.deepEqual(await client.call("GET", `/crew/agents/${agents[0].id}`), agents[0])

  // Register a webhook. Later responses never contain its secret.
  const hook = await client.registerWebhook({
    name: `hook${prefix}`, type: "custom_url", url: sink, secret: "s3cret-of-the-hook", headers: { "X-Team": "aml" }, active: true,
  })
  assert.equal(hook.webhook_id, hook.id)
  assert.ok(!JSON.stringify([hook, await client.listWebhooks()]).includes("s3cret-of-the-hook"))

  // A synchronous run that pauses gets a response at once, with all its fields.
  const run = await client.runCrew("fraud", { case: "T123" })
  assert.deepEqual(Object.keys(run).sort(), ["crew_name", "error", "result", "status", "success", "task_id"])
  assert.equal(run.success, true)
  assert.equal(run.error, null)
  assert.equal(run.result.status, "paused")
  assert.ok(run.result.message && run.result.review_id.startsWith("REV-"))

  // The dashboard shows these fields of a task.
  const status = await client.getTaskStatus(run.task_id)
  for (const member of ["task_id", "crew_name", "inputs", "created_at", "last_updated", "current_agent", "paused_at", "review_id", "result", "error"]) {
    assert.ok(member in status, member)
  }
  assert.equal(status.state, "paused")
  assert.equal(status.status, "PAUSED")
  assert.equal((await client.listTasks("paused", "fraud")).tasks[0].task_id, run.task_id)

  // The review form expects a flat object whose lists are never null. `risk_level` is returned as it was sent.
  const review = await client.getReview(run.task_id)
  assert.ok(Array.isArray(review.regulatory_implications) && Array.isArray(review.responses))
  assert.equal(typeof review.findings, "string")
  assert.equal(review.risk_level, "high")
  assert.equal(review.status, "pending")
  assert.ok((await client.listReviews("pending")).reviews.some((each) => each.review_id === review.review_id))
  // The dashboard requests all reviews, and shows the pending ones.
  const drawn = (await client.listReviews()).reviews.filter((each) => each.status === "pending")
  assert.ok(drawn.some((each) => each.review_id === review.review_id))
  await refused(client.resumeTask(run.task_id, "maybe", "", ""), 422)
  await refused(client.resumeTask(run.task_id, "approved", "somebody@else.example", ""), 403)

  // The form sends all its fields. For an unknown user it sends this placeholder name.
  const sent = { status: "approved", reviewer: "Unknown Reviewer", comments: "Looks good", review_id: review.review_id, rating: 5 }
  const resumed = await client.call("POST", `/crew/resume/${run.task_id}`, sent)
  assert.equal(resumed.status, "resuming")
  const done = await client.poll(run.task_id)
  assert.equal(done.state, "completed")
  assert.deepEqual(done.result, { report: "done", cases: 1 })
  await refused(client.resumeTask(run.task_id, "rejected", "", ""), 409)

  // The task runs in the background, a service pauses it, and a reviewer stops it.
  const background = await client.runCrew("fraud", {}, true)
  assert.equal(background.result, null)
  await refused(client.pauseTask(background.task_id, "x", "low"), 403)
  const first = await client.poll(background.task_id)
  assert.equal(first.state, "paused")
  const again = await worker.pauseTask(background.task_id, "Sanctions", "HIGH", ["OFAC"])
  assert.equal(again.success, false)
  assert.equal(again.review_id, first.review_id)
  await refused(client.resumeTask(background.task_id, "rejected", "", "no", run.result.review_id), 409)
  const rejected = await client.resumeTask(background.task_id, "rejected", "", "no", first.review_id)
  assert.equal(rejected.status, "rejected")
  assert.equal((await client.poll(background.task_id)).state, "failed")
  await refused(worker.pauseTask(background.task_id, "x", "low"), 409)

  // A run that fails also gets a response.
  const broken = await client.runCrew("broken")
  assert.deepEqual([broken.success, broken.result, broken.crew_name], [false, null, "broken"])
  assert.ok(typeof broken.error === "string" && broken.error)
  assert.equal((await client.getTaskStatus(broken.task_id)).state, "failed")

  // `detail` is a text, because forms display it. A caller without permission gets 403 even if the target does not
  // exist.
  const bare = await fetch(`${url}/edges/crew${prefix}/crew/status/none`, { headers: { Authorization: `Bearer ${token}` } })
  assert.equal(bare.status, 404)
  assert.equal(typeof (await bare.json()).detail, "string")
  await refused(worker.runCrew("none"), 403)

  // A missing crew, and a caller without a valid token.
  await refused(client.runCrew("none"), 404)
  await refused(client.getTaskStatus("none"), 404)
  await refused(new CrewClient(url, "dead", prefix).getTaskStatus("none"), 401)

  const told = await client.webhookStatus(run.result.review_id)
  assert.ok(told.deliveries.some((delivery) => delivery.webhook_id === hook.id))
  await client.deleteWebhook(hook.id)
  await refused(client.deleteWebhook(hook.id), 404)

  if (globalThis.WebSocket) {
    const last = await client.watch(run.task_id, () => {})
    assert.equal(last.state, "completed")
  }
}
console.log(JSON.stringify({ ok: true }))
