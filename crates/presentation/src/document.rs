//! A page with one text in a restricted Markdown. The page contains no script and loads nothing from elsewhere.

use std::fmt::Write;

use crate::markup::line;
use crate::{POLICY, STYLE, prose};

/// A text that was approved, as one HTML page. The page is also well-formed XML.
#[derive(Clone, Debug, Default)]
pub struct Document {
    pub title: String,
    /// Line of text below the title.
    pub byline: String,
    /// Text of the page in a restricted Markdown.
    pub text: String,
    /// True if the run was a rehearsal, in which prepared replies replaced the model.
    pub is_rehearsal: bool,
}

impl Document {
    pub fn html(&self) -> String {
        let (title, byline) = (line(&self.title), line(&self.byline));
        let mut out = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\"/>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
             <meta name=\"robots\" content=\"noindex\"/>\n<meta name=\"referrer\" content=\"no-referrer\"/>\n\
             <meta name=\"color-scheme\" content=\"light dark\"/>\n\
             <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<div class=\"page\">\n\
             <header>\n<h1>{title}</h1>\n<p class=\"byline\">{byline}</p>\n"
        );
        if self.is_rehearsal {
            out.push_str(
                "<div class=\"banner\" role=\"note\"><p><strong>From a rehearsal.</strong> A script wrote \
                    the texts of the agents. All other content below was computed.</p></div>\n",
            );
        }
        out.push_str("</header>\n<main>\n<section>\n");
        let rendered = prose::render(&mut out, &self.text, None);
        if rendered.is_cut {
            let _ = writeln!(out, "<p>The rest of the text is not shown here.</p>");
        }
        out.push_str("</section>\n</main>\n</div>\n</body>\n</html>\n");
        out
    }
}
