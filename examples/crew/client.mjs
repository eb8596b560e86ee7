// A client of the compliance crew, in the words of its own TypeScript client: every method is one that it has, every
// member that is read here is one that it reads. Node 18 or later; no package.
//
//   HOLDSHORT_URL=http://127.0.0.1:7349 HOLDSHORT_TOKEN=… node client.mjs run compliance '{"case": "T123"}'
//   node client.mjs status TASK | review TASK | watch TASK | reviews
//   node client.mjs approve TASK "comments" REVIEW | reject TASK "comments" REVIEW
//
// REVIEW is the `review_id` that was looked at: an answer that is sent again decides on no other one.

/** What the server refuses: its status, and `detail` in words. */
export class ApiError extends Error {
  constructor(status, detail, headers) {
    super(detail)
    this.status = status
    /** Seconds, where it says when to come back. */
    this.retryAfter = Number(headers.get("retry-after")) || undefined
    /** What is left of this minute. */
    this.remaining = headers.get("x-ratelimit-remaining")
  }
}

export class CrewClient {
  /** `prefix`: the same server answers below `/api/v1` and without it. */
  constructor(url, token, prefix = "/api/v1") {
    this.base = `${url}/edges/crew`
    this.prefix = prefix
    this.token = token
  }

  async call(method, path, body) {
    const headers = { Authorization: `Bearer ${this.token}` }
    if (body !== undefined) headers["Content-Type"] = "application/json"
    const response = await fetch(`${this.base}${this.prefix}${path}`, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
    })
    const data = await response.json().catch(() => ({}))
    if (!response.ok) {
      throw new ApiError(response.status, data.detail ?? response.statusText, response.headers)
    }
    return data
  }

  runCrew(crew_name, inputs = {}, async_execution = false) {
    return this.call("POST", "/crew/run", { crew_name, inputs, async_execution })
  }

  getTaskStatus(task) {
    return this.call("GET", `/crew/status/${task}`)
  }

  pauseTask(task, findings, risk_level, regulatory_implications = [], details = undefined) {
    return this.call("POST", `/crew/pause/${task}`, { findings, risk_level, regulatory_implications, details })
  }

  /** `review_id`: the review that was seen. Without it only a task that had no other review is decided on. */
  resumeTask(task, status, reviewer, comments, review_id = undefined) {
    return this.call("POST", `/crew/resume/${task}`, { status, reviewer, comments, review_id })
  }

  getReview(task) {
    return this.call("GET", `/crew/review/${task}`)
  }

  listReviews(status) {
    return this.call("GET", `/crew/reviews${status ? `?status=${status}` : ""}`)
  }

  listTasks(state, crew_name) {
    const query = new URLSearchParams()
    if (state) query.set("state", state)
    if (crew_name) query.set("crew_name", crew_name)
    return this.call("GET", `/crew/tasks?${query}`)
  }

  listCrews() {
    return this.call("GET", "/crew/crews")
  }

  getCrew(name) {
    return this.call("GET", `/crew/crews/${name}`)
  }

  listAgents(crew_name) {
    return this.call("GET", `/crew/agents${crew_name ? `?crew_name=${encodeURIComponent(crew_name)}` : ""}`)
  }

  registerWebhook(webhook) {
    return this.call("POST", "/webhooks/register", webhook)
  }

  listWebhooks() {
    return this.call("GET", "/webhooks")
  }

  deleteWebhook(id) {
    return this.call("DELETE", `/webhooks/${id}`)
  }

  webhookStatus(review) {
    return this.call("GET", `/webhooks/status/${review}`)
  }

  retryDelivery(delivery) {
    return this.call("POST", `/webhooks/retry/${delivery}`)
  }

  /** Asks again until the task has left these states: what the dashboard does every few seconds. */
  async poll(task, states = ["pending", "running"], pause_ms = 50) {
    for (;;) {
      const status = await this.getTaskStatus(task)
      if (!states.includes(status.state)) return status
      await new Promise((wake) => setTimeout(wake, pause_ms))
    }
  }

  /** Each step of a task as it happens, until it has ended. Node 22 and browsers have `WebSocket`. */
  watch(task, onFrame) {
    const url = `${this.base.replace(/^http/, "ws")}/ws/tasks/${task}?token=${encodeURIComponent(this.token)}`
    return new Promise((ended, failed) => {
      const socket = new WebSocket(url)
      socket.onmessage = ({ data }) => {
        const frame = JSON.parse(data)
        if (frame.type === "heartbeat") return
        onFrame(frame)
        if (["completed", "failed"].includes(frame.state)) {
          socket.close()
          ended(frame)
        }
      }
      socket.onerror = () => failed(new Error("the socket broke"))
    })
  }
}

async function main([verb, ...rest]) {
  const client = new CrewClient(process.env.HOLDSHORT_URL, process.env.HOLDSHORT_TOKEN)
  const verbs = {
    run: ([crew, inputs]) => client.runCrew(crew, JSON.parse(inputs ?? "{}")),
    status: ([task]) => client.getTaskStatus(task),
    review: ([task]) => client.getReview(task),
    reviews: () => client.listReviews("pending"),
    approve: ([task, comments, review]) => client.resumeTask(task, "approved", "", comments ?? "", review),
    reject: ([task, comments, review]) => client.resumeTask(task, "rejected", "", comments ?? "", review),
    watch: ([task]) => client.watch(task, (frame) => console.log(frame.type, frame.state, frame.current_agent ?? "")),
  }
  if (!verbs[verb]) throw new Error(`one of: ${Object.keys(verbs).join(", ")}`)
  console.log(JSON.stringify(await verbs[verb](rest), null, 2))
}

// Only where it is the program, and not where another one imports it.
if (process.argv[1] && import.meta.url === new URL(`file://${process.argv[1]}`).href) {
  main(process.argv.slice(2)).catch((error) => {
    console.error(error instanceof ApiError ? `${error.status}: ${error.message}` : error.message)
    process.exit(1)
  })
}
